#include "schedules/spaces/gradient_tile_space.h"

#include <gtest/gtest.h>

#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/gradient_tile_knobs.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

Space space(const Workload &w, const Target &target) { return gradient_tile_space({}, conv_loops(w), target, Core()); }

GradientTileKnobs knobs_of(const Candidate &candidate) { return *decode_knobs<GradientTileKnobs>(candidate.knobs); }

TEST(GradientTileSpace, LanesAreTheSideThatFillsThem) {
    const Target avx512{"x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", 1};
    struct Row {
        int64_t inputs, outputs, across;
    };
    for (const Row &row : {Row{3, 64, 0}, Row{64, 3, 1}, Row{64, 64, 0}}) {
        const Candidate c =
            space(convolution({1, 20, 20, row.inputs}, {3, 3, row.inputs, row.outputs}), avx512).default_candidate();
        EXPECT_EQ(knobs_of(c).across, row.across) << to_text(c);
    }
}

// Vectors of half the lanes fit groups of 8 channels; wide ones would be half empty or mix groups.
TEST(GradientTileSpace, NarrowVectorsForNarrowGroups) {
    const Target avx512{"x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", 1};
    Workload w = convolution({1, 28, 28, 256}, {3, 3, 8, 256});
    w.feature_group_count = 32;
    EXPECT_EQ(knobs_of(space(w, avx512).default_candidate()).lanes, 8);
    EXPECT_EQ(knobs_of(space(convolution({1, 28, 28, 64}, {3, 3, 64, 64}), avx512).default_candidate()).lanes, 16);
}

// Where panels and kernel rows do not go round among the threads, the sum is split instead.
TEST(GradientTileSpace, PartialSumsForFewPanels) {
    const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";
    struct Row {
        std::vector<int64_t> input, kernel;
        int threads;
        int64_t partials;
    };
    const Row rows[] = {
        {{1, 56, 56, 16}, {3, 3, 16, 16}, 4, 4}, {{8, 14, 14, 16}, {3, 3, 16, 16}, 4, 4},
        {{1, 56, 56, 16}, {3, 3, 16, 16}, 1, 0}, {{1, 56, 56, 256}, {3, 3, 256, 512}, 4, 0},
        {{1, 2, 56, 16}, {2, 3, 16, 16}, 4, 0},  // one row: nothing to split
    };
    for (const Row &row : rows) {
        const Candidate c = space(convolution(row.input, row.kernel), {avx512, row.threads}).default_candidate();
        EXPECT_EQ(knobs_of(c).partials, row.partials) << to_text(c);
        EXPECT_EQ(knobs_of(c).parallel, row.threads > 1 && !row.partials) << to_text(c);
    }
}

TEST(GradientTileSpace, DefaultsAndSamplesAreValidForEveryTarget) {
    Rng rng(test_seed());
    for (const char *halide : {"x86-64-linux", "x86-64-linux-avx-avx2-fma-sse41",
                               "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41", "arm-32-linux-no_neon"}) {
        for (int threads : {1, 3}) {
            const Target target{halide, threads};
            for (int64_t channels : {1, 3, 17, 200}) {
                Workload w = convolution({2, 9, 30, channels}, {5, 7, channels, channels + 1});
                w.padding = {{2, 2}, {3, 3}};
                const Space s = space(w, target);
                EXPECT_TRUE(s.check(s.default_candidate())) << halide << " " << channels;
                const auto sample = s.sample(rng);
                ASSERT_TRUE(sample) << halide << " " << channels;
                EXPECT_TRUE(s.check(*sample)) << to_text(*sample);
            }
        }
    }
}

TEST(GradientTileSpace, RefusesWhatDoesNotFit) {
    const Space s = space(convolution({1, 20, 20, 24}, {3, 3, 24, 40}), {"x86-64-linux", 1});
    struct Row {
        const char *knob;
        int64_t value;
        const char *reason;
    };
    for (const Row &row :
         {Row{"channels", 14, "registers"}, Row{"columns", 4, "columns"}, Row{"row_block", 99, "row_block"}}) {
        Candidate c = s.default_candidate();
        c.knobs["vectors"] = 2;
        c.knobs[row.knob] = row.value;
        const Status status = s.check(c);
        ASSERT_FALSE(status) << row.knob;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
}

}  // namespace
}  // namespace kiln
