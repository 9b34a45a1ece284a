// Finalists of counts that come from a model: who they are, who wins, and when they do not run again.
#include "tuner/job/racing/finals.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/tuner/job/fake_workshop.h"
#include "tests/tuner/job/tuned_layers.h"
#include "tuner/job/tune.h"

namespace kiln {
namespace {

TEST(Finals, TheThreeBestKernelsAndTheLastWinner) {
    const struct {
        const char *what;
        std::vector<Contestant> contestants;
        const char *incumbent;
        std::vector<size_t> field;
    } rows[] = {
        {"nobody", {}, "", {}},
        {"fewer than three", {{{.id = "a", .object_hash = "1"}, {{.median = 5}, {}}}}, "", {0}},
        {"the lowest",
         {{{.id = "a", .object_hash = "1"}, {{.median = 5}, {}}},
          {{.id = "b", .object_hash = "2"}, {{.median = 2}, {}}},
          {{.id = "c", .object_hash = "3"}, {{.median = 9}, {}}},
          {{.id = "d", .object_hash = "4"}, {{.median = 3}, {}}}},
         "",
         {1, 3, 0}},
        {"a kernel once",
         {{{.id = "a", .object_hash = "1"}, {{.median = 5}, {}}},
          {{.id = "b", .object_hash = "1"}, {{.median = 5}, {}}},
          {{.id = "c", .object_hash = "3"}, {{.median = 9}, {}}}},
         "",
         {0, 2}},
        {"equal counts: the smaller object, then the candidate",
         {{{.id = "a", .candidate = "y", .object_hash = "1", .object_bytes = 8}, {{.median = 5}, {}}},
          {{.id = "b", .candidate = "x", .object_hash = "2", .object_bytes = 8}, {{.median = 5}, {}}},
          {{.id = "c", .candidate = "z", .object_hash = "3", .object_bytes = 4}, {{.median = 5}, {}}}},
         "",
         {2, 1, 0}},
        {"who won last time defends that",
         {{{.id = "a", .object_hash = "1"}, {{.median = 1}, {}}},
          {{.id = "b", .object_hash = "2"}, {{.median = 2}, {}}},
          {{.id = "c", .object_hash = "3"}, {{.median = 3}, {}}},
          {{.id = "d", .object_hash = "4"}, {{.median = 4}, {}}},
          {{.id = "e", .object_hash = "5"}, {{.median = 5}, {}}}},
         "e",
         {0, 1, 2, 4}},
    };
    for (const auto &row : rows) EXPECT_EQ(finalists(row.contestants, row.incumbent), row.field) << row.what;
}

TEST(Finals, FewestCyclesFirstWithExactRatios) {
    const std::vector<Contestant> all = {{.trial = {.id = "a"}}, {.trial = {.id = "b"}}, {.trial = {.id = "c"}}};
    const std::vector<RaceEntry> entries = final_entries(all, {2, 0, 1}, {{300}, {200}, {200}});
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0], (RaceEntry{"a", 1, 1, 1, {200}})) << "of equal ones, the earlier in the field";
    EXPECT_EQ(entries[1], (RaceEntry{"b", 1, 1, 1, {200}}));
    EXPECT_EQ(entries[2], (RaceEntry{"c", 1.5, 1.5, 1.5, {300}}));
}

// A model that counts every kernel in the wrong order: the more cycles in truth, the fewer it says.
struct ModelWorkshop : FakeWorkshop {
    ModelWorkshop() {
        timestamp = [this] { return fmt::format("2026-01-01T00:00:{:02}.000Z", seconds_++); };
        runner.measures.metric = Metric::cycles, runner.measures.is_noisy = false;
        runner.measures.judges_finalists = true;
        runner.time_ns = [this](const std::string &hash) {
            const auto found = truth.find(hash);
            if (found != truth.end()) return found->second;
            return truth[hash] = 1000.0 + 10 * static_cast<double>(truth.size());
        };
        runner.samples = [](const std::string &, double cycles) { return Samples{1e6 / cycles}; };
    }
    std::map<std::string, double> truth;

private:
    int seconds_ = 0;
};

TEST(Finals, WhoWinsThereIsTheBestThoughTheModelSaysOtherwise) {
    ModelWorkshop shop;
    const auto report = shop.tune({layer_a}, trials(6));
    ASSERT_TRUE(report.ok()) << report.error().message;
    ASSERT_EQ(shop.runner.heats.size(), 1u);
    EXPECT_EQ(shop.runner.heats[0].rounds, 1);
    EXPECT_EQ(shop.runner.heats[0].artifacts.size(), 3u);
    const auto races = *shop.store.races({});
    ASSERT_EQ(races.size(), 1u);
    EXPECT_EQ(races[0].metric, Metric::cycles);
    // The model's three best are the three slowest, kernels 3 to 5; of these the third is the fastest.
    EXPECT_EQ(races[0].entries[0].samples, Samples{1030});
    const auto best = *shop.store.best({});
    EXPECT_EQ(best->evidence, "race");
    EXPECT_EQ(best->trial.id, races[0].entries[0].trial);
    EXPECT_EQ(best->measurement.median, 1e6 / 1030);
    EXPECT_EQ(report->workloads[0].best_candidate, best->trial.candidate);
    EXPECT_EQ(report->workloads[0].best_ns, 1e6 / 1030);
    EXPECT_EQ(report->workloads[0].race->judged, 1030);

    ASSERT_TRUE(shop.tune({layer_a}, trials(6)).ok());
    EXPECT_EQ(shop.runner.heats.size(), 1u) << "the same kernels ran before";
    ASSERT_TRUE(shop.tune({layer_a}, trials(8)).ok());
    ASSERT_EQ(shop.runner.heats.size(), 2u);
    EXPECT_EQ(shop.runner.heats[1].artifacts.size(), 4u) << "three new ones, and the last winner";
    EXPECT_EQ((*shop.store.best({}))->trial.id, races[0].entries[0].trial);
}

// The default runs there, too, and loses by another ratio than the model's.
TEST(Finals, TheDefaultKeepsTheModelsCount) {
    ModelWorkshop shop;
    const auto report = shop.tune({layer_a}, trials(3));
    ASSERT_TRUE(report.ok());
    ASSERT_EQ(shop.runner.heats.size(), 1u);
    EXPECT_EQ(report->workloads[0].default_ns, 1e6 / 1000) << "the first kernel";
}

TEST(Finals, NobodyJudgesWhereNobodyCan) {
    ModelWorkshop shop;
    shop.runner.measures.judges_finalists = false;
    ASSERT_TRUE(shop.tune({layer_a}, trials(4)).ok());
    EXPECT_TRUE(shop.runner.heats.empty());
    EXPECT_EQ((*shop.store.best({}))->evidence, "median");
}

TEST(Finals, AKernelThatFailsThereLeavesTheModelsBest) {
    ModelWorkshop shop;
    shop.runner.heat_fails = true;
    ASSERT_TRUE(shop.tune({layer_a}, trials(4)).ok());
    EXPECT_TRUE(shop.store.races({})->empty());
    EXPECT_EQ((*shop.store.best({}))->evidence, "median");
}

}  // namespace
}  // namespace kiln
