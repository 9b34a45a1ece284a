// Races in the store: written, read back, and what they do to `best`.

#include "records/race.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "database/trial_store.h"
#include "records/content_id.h"
#include "tests/database/sample_records.h"

namespace kiln {
namespace {

class Races : public ::testing::Test {
protected:
    std::string append(const Sample &sample) {
        const Result<std::string> id = store_.append(sample.trial, sample.measurement);
        EXPECT_TRUE(id.ok()) << id.error().message;
        return id.ok() ? *id : "";
    }
    std::string append(const Race &race) {
        const Result<std::string> id = store_.append(race);
        EXPECT_TRUE(id.ok()) << id.error().message;
        return id.ok() ? *id : "";
    }
    void append_at(const std::string &created_at, const std::vector<std::string> &ranking) {
        Race race = sample_race(ranking);
        race.created_at = created_at;
        append(race);
    }

    TrialStore store_ = std::move(*TrialStore::in_memory());
};

TEST_F(Races, AreGivenBackAsTheyWere) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110)), c = append(sample('c', 120));
    Race race = sample_race({b, a, c});
    race.entries[2].samples.pop_back();  // left early
    race.id = append(race);
    EXPECT_EQ(race.id, content_id(race));
    EXPECT_EQ(append(race), race.id) << "again changes nothing";
    EXPECT_EQ(*store_.races({}), std::vector{race});
    EXPECT_EQ(*store_.races({.workload = race.workload, .threads = 1}), std::vector{race});
    EXPECT_TRUE(store_.races({.workload = "another"})->empty());
    EXPECT_TRUE(store_.races({.threads = 2})->empty());
    EXPECT_EQ(store_.races({.candidate = "x", .within_budget = 0})->size(), 1u) << "a race has no candidate";
    EXPECT_TRUE(store_.verify().ok());
}

TEST_F(Races, RefuseWhatCannotBeTrue) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    Trial failed = sample_failure();
    const std::string failure = *store_.append(failed, std::nullopt);
    Sample cold = sample('c', 50);
    cold.trial.cache = cold.measurement.cache = CacheMode::cold;
    const std::string other_kind = append(cold);
    const struct {
        std::function<void(Race &)> change;
        const char *message;
    } cases[] = {
        {[](Race &r) { r.entries.pop_back(); }, "at least two"},
        {[](Race &r) { r.entries[1].samples.clear(); }, "samples of trial"},
        {[](Race &r) { r.entries[1].samples.push_back(1); }, "no more than the winner's"},
        {[](Race &r) { r.entries[0].samples[0] = 0; }, "samples of trial"},
        {[](Race &r) { r.entries[0].ratio_hi = 2; }, "the winner's ratio is 1"},
        {[](Race &r) { r.entries[1].ratio = 3; }, "inside its interval"},
        {[](Race &r) { r.entries[1].ratio = std::nan(""); }, "NOT NULL"},
        {[](Race &r) { r.entries[1].trial = r.entries[0].trial; }, "UNIQUE"},
        {[](Race &r) { r.entries[1].trial = std::string(32, '0'); }, "a race is between ok trials"},
        {[&](Race &r) { r.entries[1].trial = failure; }, "a race is between ok trials"},
        {[&](Race &r) { r.entries[1].trial = other_kind; }, "a race is between ok trials"},
        {[](Race &r) { r.toolchain = "another"; }, "a race is between ok trials"},
        {[](Race &r) { r.metric = Metric::cycles; }, "a race is between ok trials"},
        {[](Race &r) { r.confidence = 1; }, "confidence is between"},
        {[](Race &r) { r.conditions = "{"; }, "conditions are JSON"},
        {[](Race &r) { r.created_at = "yesterday"; }, "created_at"},
        {[](Race &r) { r.id = std::string(32, '0'); }, "it was changed"},
    };
    for (const auto &c : cases) {
        Race race = sample_race({a, b});
        c.change(race);
        const Result<std::string> id = store_.append(race);
        ASSERT_FALSE(id.ok()) << c.message;
        EXPECT_EQ(id.error().code, ErrorCode::bad_input);
        EXPECT_NE(id.error().message.find(c.message), std::string::npos) << id.error().message;
    }
    EXPECT_TRUE(store_.races({})->empty()) << "nothing of a refused race stays";
    EXPECT_EQ(store_.sql("SELECT * FROM race_entry")->rows.size(), 0u);
}

TEST_F(Races, TheLatestWinnerIsBest) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110)), c = append(sample('c', 120));
    append_at("2026-08-20T00:00:00.000Z", {c, a});
    EXPECT_EQ((*store_.best({}))->trial.id, c);
    EXPECT_EQ((*store_.best({}))->evidence, "race");
    EXPECT_EQ((*store_.best({}))->measurement.median, 120);
    append_at("2026-08-22T00:00:00.000Z", {b, c, a});
    EXPECT_EQ((*store_.best({}))->trial.id, b);
    append_at("2026-08-21T00:00:00.000Z", {a, b});  // an older one, merged in later
    EXPECT_EQ((*store_.best({}))->trial.id, b);
    EXPECT_EQ(store_.sql("SELECT * FROM best")->rows.size(), 1u);
    EXPECT_EQ(store_.sql("SELECT evidence FROM best")->rows[0][0], Cell("race"));
    EXPECT_TRUE(store_.verify().ok());
}

TEST_F(Races, AreAReportOfOneRowAnEntry) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    append_at("2026-08-20T00:00:00.000Z", {a, b});
    append_at("2026-08-21T00:00:00.000Z", {b, a});
    const Table table = store_.report({ReportKind::races})->table;
    ASSERT_EQ(table.rows.size(), 4u);
    EXPECT_EQ(table.rows[0].back(), Cell(b));
    EXPECT_EQ(table.rows[1].back(), Cell(a));
    EXPECT_EQ(table.rows[2].back(), Cell(a));
    const auto tie = static_cast<size_t>(std::ranges::find(table.columns, "tie") - table.columns.begin());
    EXPECT_EQ(table.rows[0][tie], Cell(int64_t{0})) << "the winner ties with nobody";
    EXPECT_EQ(table.rows[1][tie], Cell(int64_t{1})) << "1.125, from 0.875 to 1.375";
}

// A winner whose kernel failed afterwards wins no more; then times decide, as without a race.
TEST_F(Races, AWinnerThatFailedAfterwardsIsNotTheBest) {
    const Sample fast = sample('a', 100);
    const std::string a = append(fast), b = append(sample('b', 110)), c = append(sample('c', 105));
    append(sample_race({a, b, c}));
    EXPECT_EQ((*store_.best({}))->trial.id, a);
    Trial failed = fast.trial;
    failed.status = TrialStatus::wrong_result, failed.message = "off", failed.created_at = "2026-09-01T00:00:00.000Z";
    ASSERT_TRUE(store_.append(failed, std::nullopt).ok());
    EXPECT_EQ((*store_.best({}))->trial.id, c);
    EXPECT_EQ((*store_.best({}))->evidence, "median");
}

// Trials of a wider budget were not in the race. One lucky time of theirs must not win against it.
TEST_F(Races, AWinnerGivesWayToATrialOfAnotherBudgetOnlyWhereThatIsFasterByATenth) {
    const std::string a = append(sample('a', 100)), b = append(sample('b', 110));
    append(sample_race({a, b}));
    Sample lucky = sample('c', 95), fast = sample('d', 90);
    for (Sample *s : {&lucky, &fast}) s->trial.error_budget *= 10;
    append(lucky);
    EXPECT_EQ((*store_.best({}))->trial.id, a);
    EXPECT_EQ((*store_.best({}))->evidence, "race");
    const std::string d = append(fast);
    EXPECT_EQ((*store_.best({}))->trial.id, d);
}

TEST_F(Races, CountForTheirKindOnly) {
    Sample cold = sample('c', 50), cold_faster = sample('d', 40);
    for (Sample *s : {&cold, &cold_faster}) s->trial.cache = s->measurement.cache = CacheMode::cold;
    const std::string warm = append(sample('a', 100)), slower = append(sample('b', 110));
    append(cold);
    const std::string cold_best = append(cold_faster);
    append(sample_race({slower, warm}));
    EXPECT_EQ((*store_.best({.cache = CacheMode::warm}))->trial.id, slower);
    EXPECT_EQ((*store_.best({.cache = CacheMode::cold}))->trial.id, cold_best);
    EXPECT_EQ((*store_.best({.cache = CacheMode::cold}))->evidence, "median");
}

}  // namespace
}  // namespace kiln
