#include "schedules/spaces/transform_tile_space.h"

#include <gtest/gtest.h>

#include "tests/test_seed.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

Space space_of(const std::string &key, const Target &target) {
    const Workload w = *parse_workload_key(key);
    Candidate base;
    base.algorithm = op_name(w);
    return transform_tile_space(base, transform_shape(w), target);
}

TransformTileKnobs knobs_of(const Candidate &candidate) { return *decode_knobs<TransformTileKnobs>(candidate.knobs); }

// Lanes follow the channels unless no tensor has them as neighbours; a buffer where stores would not be dense.
TEST(TransformTileSpace, Defaults) {
    struct Row {
        const char *key;
        int64_t lanes, stage, lane_count;
    };
    constexpr Row rows[] = {
        {"winograd_input_transform/input:1x56x56x64/window:3x3/tile:4x4", 0, 0, 16},
        {"winograd_input_transform/input:1x56x56x5/window:3x3/tile:4x4", 0, 0, 5},
        {"winograd_input_transform/input:1x56x56x64/window:3x3/tile:4x4/tile_dimensions:4x5", 0, 1, 16},
        {"winograd_input_transform/input:1x56x56x64/input_layout:NCHW/window:3x3/tile:4x4", 0, 0, 16},
        {"winograd_input_transform/input:1x56x56x64/input_layout:NCHW/output_layout:NCHW/window:3x3/tile:4x4", 1, 0,
         14},
        {"winograd_filter_transform/kernel:3x3x4x64/tile:4x4", 0, 0, 16},
        {"winograd_filter_transform/kernel:3x3x4x64/kernel_layout:HWOI/tile:4x4", 0, 0, 4},
        {"winograd_output_transform/input:1x14x14x64/window:3x3/tile:4x4", 0, 0, 16},
        {"winograd_output_transform/input:1x14x14x64/output_layout:NCHW8c/window:3x3/tile:4x4", 0, 0, 8},
        {"winograd_output_transform/input:1x14x14x64/output_layout:NCHW/window:3x3/tile:4x4", 0, 1, 16},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : rows) {
        const Space space = space_of(row.key, target);
        const TransformTileKnobs k = knobs_of(space.default_candidate());
        EXPECT_EQ(k.lanes, row.lanes) << row.key;
        EXPECT_EQ(k.stage, row.stage) << row.key;
        EXPECT_EQ(transform_lanes(k, transform_shape(*parse_workload_key(row.key)), target), row.lane_count) << row.key;
    }
}

// A transform of 8x6 values with 4 vectors a step took the compiler more than a minute.
TEST(TransformTileSpace, SeveralVectorsAreNotWrittenOneByOne) {
    const Target target = *parse_target("avx2", 1, avx512);
    const std::string input = "winograd_input_transform/input:1x9x12x33/window:3x3/tile:";
    struct Row {
        std::string key;
        int64_t vectors, stage;
        bool is_valid;
    };
    const Row rows[] = {
        {input + "6x4/tile_dimensions:4x5", 4, 0, false}, {input + "6x4/tile_dimensions:4x5", 2, 0, false},
        {input + "6x4/tile_dimensions:4x5", 1, 0, true},  {input + "6x4/tile_dimensions:4x5", 4, 1, true},
        {input + "2x2/tile_dimensions:4x5", 2, 0, false}, {input + "6x4", 4, 0, true},
    };
    for (const Row &row : rows) {
        const Space space = space_of(row.key, target);
        Candidate candidate = space.default_candidate();
        candidate.knobs["vectors"] = row.vectors;
        candidate.knobs["stage"] = row.stage;
        EXPECT_EQ(bool(space.check(candidate)), row.is_valid) << row.key << " " << to_text(candidate);
    }
}

TEST(TransformTileSpace, EveryTargetHasOneAndRefusesWhatDoesNotFit) {
    Rng rng(test_seed());
    for (const char *name : {"baseline", "avx2", "avx512", "arm-32-linux-no_neon"}) {
        for (int threads : {1, 4}) {
            const Target target = *parse_target(name, threads, avx512);
            const Space space = space_of("winograd_input_transform/input:1x56x56x64/window:3x3/tile:4x4", target);
            EXPECT_TRUE(space.sample(rng));
            EXPECT_EQ(knobs_of(space.default_candidate()).parallel, threads > 1);
            Candidate bad = space.default_candidate();
            bad.knobs["lanes"] = 1;
            EXPECT_TRUE(space.check(bad));
            bad.knobs["vectors"] = 2;
            EXPECT_FALSE(space.check(bad));
            bad.knobs["vectors"] = 3;
            EXPECT_FALSE(space.check(bad));
            bad = space.default_candidate();
            bad.knobs["parallel"] = 2;
            EXPECT_EQ(space.check(bad).ok(), threads > 1);
        }
    }
}

}  // namespace
}  // namespace kiln
