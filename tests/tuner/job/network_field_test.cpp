#include "tuner/job/network_field.h"

#include <gtest/gtest.h>

#include "tests/tuner/job/valid_trials.h"

namespace kiln {
namespace {

class NetworkFieldTest : public testing::Test {
protected:
    void SetUp() override {
        machine_.halide_target = parse_target("avx2", 1, "")->halide;
        target_ = {machine_.halide_target, 1};
        store_.emplace(std::move(*TrialStore::in_memory()));
    }

    struct Row {
        std::string toolchain = "here";
        CacheMode cache = CacheMode::cold;
        double error_budget = default_error_budget;
    };

    // As `tune` would have written it; answers the trial's id.
    std::string record(const Candidate &candidate, double median, const Row &row) {
        const Trial trial = valid_trial({.workload = key(workload_),
                                         .target = target_.halide,
                                         .threads = 1,
                                         .machine = key(machine_),
                                         .toolchain = row.toolchain,
                                         .candidate = to_text(candidate),
                                         .error_budget = row.error_budget,
                                         .object_hash = "object of " + to_text(candidate),
                                         .cache = row.cache});
        const auto id = append_valid(*store_, trial, median);
        EXPECT_TRUE(id) << id.error().message;
        return id ? *id : "";
    }
    std::string record(const Candidate &candidate, double median) { return record(candidate, median, Row()); }

    Candidate standard() {
        return *default_candidate(workload_, target_, core_of(machine_, target_), default_error_budget);
    }

    // Distinct valid candidates.
    Candidate sample(uint64_t seed) {
        Rng rng(seed);
        return *find_algorithm("direct")->space(workload_, target_, core_of(machine_, target_)).sample(rng);
    }

    std::vector<NetworkLayer> field(const std::string &network = "net") {
        const ChoiceContext context{.target = target_,
                                    .machine = machine_,
                                    .store = &*store_,
                                    .toolchain = "here",
                                    .algorithms = {},
                                    .caches = caches_of_networks};
        const auto layers = network_field({{workload_, {3, 5}}}, network, context);
        EXPECT_TRUE(layers) << layers.error().message;
        return layers ? *layers : std::vector<NetworkLayer>();
    }

    Workload workload_ = convolution({1, 14, 14, 64}, {3, 3, 64, 64});
    Machine machine_;
    Target target_;
    std::optional<TrialStore> store_;
};

TEST_F(NetworkFieldTest, TheFastestAloneThenTheDefaultThenTheOthers) {
    record(sample(1), 108);
    record(sample(2), 100);
    record(sample(3), 130);  // too slow
    record(sample(4), 104);
    record(standard(), 140);
    const std::vector<NetworkLayer> layers = field();
    ASSERT_EQ(layers.size(), 1u);
    EXPECT_EQ(layers[0].steps, (std::vector<size_t>{3, 5}));
    const std::vector<NetworkKernel> &kernels = layers[0].kernels;
    const Candidate expected[] = {sample(2), standard(), sample(4), sample(1)};
    ASSERT_EQ(kernels.size(), std::size(expected));
    for (size_t i = 0; i < kernels.size(); i++) {
        EXPECT_EQ(to_text(kernels[i].candidate), to_text(expected[i])) << i;
        EXPECT_EQ(kernels[i].version, i);
        EXPECT_EQ(kernels[i].is_default, i == 1);
    }
}

TEST_F(NetworkFieldTest, ADefaultThatIsFastestHasNoSecondVersion) {
    record(standard(), 100);
    record(sample(2), 101);
    const std::vector<NetworkLayer> layers = field();
    ASSERT_EQ(layers.size(), 1u);
    ASSERT_EQ(layers[0].kernels.size(), 2u);
    EXPECT_TRUE(layers[0].kernels[0].is_default);
    EXPECT_EQ(layers[0].kernels[1].version, 2u);
    EXPECT_EQ(version_count(layers), 3u);
}

TEST_F(NetworkFieldTest, TrialsOfOtherConditionsDoNotRace) {
    record(sample(1), 100);
    EXPECT_TRUE(field().empty()) << "nobody to race against";
    record(sample(2), 101, {.toolchain = "elsewhere"});
    record(sample(3), 101, {.cache = CacheMode::warm});
    record(sample(4), 101, {.error_budget = 1e-6});
    EXPECT_TRUE(field().empty());
    record(sample(5), 101);
    EXPECT_EQ(field().size(), 1u);
}

TEST_F(NetworkFieldTest, TheSameKernelsRaceOnceInANetwork) {
    record(sample(1), 100);
    record(sample(2), 101);
    NetworkRaceResult result{.layers = field(), .entrants = {}, .places = {}, .versions = {}, .conditions = {"{}"}};
    ASSERT_EQ(result.layers.size(), 1u);
    // The second wins, and is the one in use from then on.
    result.entrants = {{{1000, {{2.0}}}, {1000, {{1.0}}}}};
    result.places = {{{1, {}}, {0, {2, 1.9, 2.1}}}};
    for (const Race &race : races_of(result, "net", "2026-02-01T12:00:00.123Z")) {
        const auto id = store_->append(race);
        ASSERT_TRUE(id) << id.error().message;
    }
    EXPECT_TRUE(field("net").empty());
    const std::vector<NetworkLayer> elsewhere = field("another");
    ASSERT_EQ(elsewhere.size(), 1u);
    EXPECT_EQ(to_text(elsewhere[0].kernels[0].candidate), to_text(sample(2)));
    record(sample(3), 102);
    EXPECT_EQ(field("net").size(), 1u) << "a new kernel";
}

}  // namespace
}  // namespace kiln
