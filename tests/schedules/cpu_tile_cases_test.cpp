#include "schedules/spaces/cpu_tile_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "rewrites/parts.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "tests/target_names.h"
#include "workload/division.h"

namespace kiln {
namespace {

// Not the run's seed: what few candidates have may be missing among so few draws.
Rng fixed_draws() { return Rng(1); }

CpuTileKnobs knobs_of(const Candidate &candidate) { return *decode_knobs<CpuTileKnobs>(candidate.knobs); }

TEST(TileCases, EveryKindHasItsRow) {
    struct Row {
        const char *key, *target, *name;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x20x20x64/kernel:3x3x1x64/feature_group_count:64", "avx512", "depthwise"},
        {"conv2d/input:1x20x20x64/kernel:3x3x1x128/feature_group_count:64", "avx2", "depthwise"},
        {"conv2d/input:1x20x20x64/kernel:3x3x1x64/rhs_dilation:2x2/feature_group_count:64", "avx2",
         "depthwise, many taps"},
        {"conv2d/input:1x1x200x64/kernel:1x31x1x64/feature_group_count:64", "avx2", "depthwise, many taps"},
        {"conv2d/input:1x1x200x64/kernel:1x7x1x64/feature_group_count:64", "avx2", "depthwise, dilated"},
        {"conv2d/input:1x1x200x64/kernel:1x31x1x64/feature_group_count:64", "avx512", "depthwise, dilated"},
        {"conv2d/input:1x20x20x64/kernel:3x3x1x64/rhs_dilation:2x2/feature_group_count:64", "baseline",
         "depthwise, dilated"},
        {"conv2d/input:1x256x256x96/kernel:3x3x1x96/strides:2x2/feature_group_count:96", "avx512",
         "depthwise, streamed"},
        {"conv2d/input:1x33x33x256/kernel:3x3x1x256/rhs_dilation:6x6/feature_group_count:256", "avx2",
         "depthwise, wide window"},
        {"conv2d/input:1x33x33x960/kernel:3x3x1x960/rhs_dilation:6x6/feature_group_count:960", "avx2",
         "depthwise, many taps"},
        {"conv2d/input:1x256x256x96/kernel:5x5x1x96/strides:2x2/feature_group_count:96", "avx512", "depthwise"},
        {"conv2d/input:1x20x20x64/kernel:9x9x1x64/feature_group_count:64", "avx512", "depthwise, large window"},
        {"conv2d/input:1x20x20x64/kernel:3x3x4x64/feature_group_count:16", "avx512", "groups of up to 4 channels"},
        {"conv2d/input:1x20x20x64/kernel:3x3x8x64/feature_group_count:8", "avx512", "groups that share a vector"},
        {"conv2d/input:1x20x20x64/kernel:3x3x16x64/feature_group_count:4", "avx512", "a group in a vector"},
        {"conv2d/input:1x20x20x64/kernel:3x3x8x64/feature_group_count:8", "avx2", "a group in a vector"},
        {"conv2d/input:1x20x20x64/kernel:3x3x32x64/feature_group_count:2", "avx512", "large groups"},
        {"conv2d/input:1x20x20x3/kernel:7x7x3x64/strides:2x2", "avx512", "few input channels, NHWC"},
        {"conv2d/input:1x20x20x3/kernel:7x7x3x64/strides:2x2/input_layout:NCHW", "avx512", "few input channels, NCHW"},
        {"conv2d/input:1x20x20x3/kernel:3x3x3x64/rhs_dilation:2x2", "avx512", "few input channels, apart"},
        {"conv2d/input:1x20x20x3/kernel:1x1x3x64", "avx512", "few input channels, apart"},
        {"conv2d/input:1x20x20x64/kernel:3x3x64x64/input_layout:NCHW", "avx512", "NCHW"},
        {"conv2d/input:1x20x20x64/kernel:3x3x64x64/input_layout:NCHW8c", "avx512", "NCHW"},
        {"conv2d/input:1x20x20x64/kernel:3x3x64x64", "avx512", "NHWC"},
        {"conv2d/input:1x20x20x512/kernel:3x3x512x512", "avx512", "weights beyond the L2 cache"},
        {"conv2d/input:1x20x20x64/kernel:3x3x64x64/dtype:u8/epilogue:requantize_onnx", "avx512", "dot products"},
        {"conv2d/input:1x20x20x64/kernel:3x3x64x64/dtype:i8/epilogue:requantize_onnx", "avx2", "dot products"},
        {"conv2d/input:1x20x20x8/kernel:3x3x8x64", "avx2", "NHWC"},
    };
    std::set<std::string_view> seen;
    Machine machine = machine_of_zen2();
    machine.l3_bytes = 32 << 20;
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops stated = conv_loops(*workload);
        const ConvLoops loops = is_quantized(*workload) ? in_parts(stated, 4) : stated;
        const TileFacts facts = tile_facts(loops, vector_lanes(target), target, core_of(machine, target));
        const TileCase &found = tile_case(facts, {2, 4, 1});
        EXPECT_STREQ(found.name, row.name) << row.key;
        seen.insert(found.name);
    }
    for (const TileCase &row : tile_cases()) {
        EXPECT_TRUE(seen.contains(row.name)) << row.name << " has no example here";
        EXPECT_GT(std::string_view(row.reason).size(), 40u) << row.name;
    }
}

// Half vectors are offered where they hold whole groups and whole vectors do not; what is chosen untuned follows what
// the CPU starts in a cycle.
TEST(TileCases, WidthOfVectors) {
    struct Row {
        int64_t channels, groups;
        const char *target;
        int64_t lanes;  // of the default; 0: no choice
    };
    const Row rows[] = {
        {8, 32, zen4_target, 8},  {8, 32, "avx512", 16},  {24, 8, zen4_target, 8}, {24, 8, "avx512", 16},
        {16, 16, zen4_target, 0}, {4, 32, "avx2", 8},     {4, 32, zen4_target, 0}, {1, 64, zen4_target, 0},
        {64, 1, zen4_target, 0},  {2, 32, "baseline", 0},
    };
    for (const Row &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        Workload w =
            convolution({1, 14, 14, row.channels * row.groups}, {3, 3, row.channels, row.channels * row.groups});
        w.feature_group_count = row.groups;
        Candidate base;
        base.algorithm = "direct";
        const Space space = cpu_tile_space(base, conv_loops(w), target, core_of(Machine(), target));
        EXPECT_EQ(knobs_of(space.default_candidate()).lanes, row.lanes) << row.channels << " " << row.target;
        EXPECT_TRUE(space.check(space.default_candidate()));
        Rng rng = fixed_draws();
        std::set<int64_t> drawn;
        for (int i = 0; i < 50; i++) drawn.insert(knobs_of(*space.sample(rng)).lanes);
        EXPECT_EQ(drawn.size(), row.lanes ? 2u : 1u) << row.channels << " " << row.target;
    }
}

// Depthwise: the widest vectors that divide the channels, and blocks of them. Candidates from before there was a choice
// are those of whole vectors.
TEST(TileCases, WidthOfDepthwiseVectors) {
    struct Row {
        int64_t channels;
        const char *layout, *target;
        int64_t lanes;  // of the default; 0: the target's
        int64_t kernel = 3;
    };
    const Row rows[] = {
        {144, "NHWC", "avx512", 0},    {72, "NHWC", "avx512", 8},      {20, "NHWC", "avx512", 0},
        {21, "NHWC", "avx512", 0},     {144, "NCHW8c", "avx512", 8},   {144, "NCHW16c", "avx512", 0},
        {20, "NCHW8c", "avx512", 8},   {20, "NHWC", "avx2", 4},        {144, "NCHW4c", "avx512", 4},
        {144, "NCHW", "avx512", 0},    {72, "NHWC", "avx512", 0, 5},   {8, "NHWC", "avx512", 8, 5},
        {144, "NHWC", "avx512", 0, 5}, {72, "NCHW8c", "avx512", 8, 5}, {72, "NHWC", zen4_target, 8, 5},
    };
    for (const Row &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        Workload w = convolution({1, 14, 14, row.channels}, {row.kernel, row.kernel, 1, row.channels});
        w.feature_group_count = row.channels;
        w.input_layout = w.output_layout = *parse_activation_layout(row.layout);
        const Space space = cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target));
        EXPECT_EQ(knobs_of(space.default_candidate()).lanes, row.lanes)
            << row.channels << " " << row.layout << ", kernel " << row.kernel;
        EXPECT_TRUE(space.check(space.default_candidate()));
        if (row.lanes == 0) continue;
        Candidate before = space.default_candidate();
        before.knobs.erase("lanes");
        before.knobs["panel_block"] = 1;                                            // half as many panels
        if (before.knobs.contains("stage_input")) before.knobs["stage_input"] = 1;  // blocks that vectors straddle
        EXPECT_TRUE(space.check(before)) << space.check(before).error().message;
    }
}

// Without groups, where they leave fewer lanes without an output. Texts without the knob stay candidates.
TEST(TileCases, WidthOfVectorsOfThinLayers) {
    const struct {
        int64_t outputs;
        const char *target;
        bool has_choice;
        int64_t lanes;  // of the default; 0: the target's
    } rows[] = {
        {8, zen4_target, true, 8},    {24, zen4_target, true, 8},  {24, "avx512", true, 0},
        {40, zen4_target, true, 8},   {16, zen4_target, false, 0}, {80, zen4_target, false, 0},
        {810, zen4_target, false, 0}, {20, zen4_target, true, 8},  {24, "avx2", false, 0},
        {24, "baseline", false, 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const Workload w = convolution({1, 28, 28, 96}, {1, 1, 96, row.outputs});
        const Space space = cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target));
        const std::string what = std::to_string(row.outputs) + " " + row.target;
        EXPECT_EQ(knobs_of(space.default_candidate()).lanes, row.lanes) << what;
        Rng rng = fixed_draws();
        std::set<int64_t> drawn;
        for (int i = 0; i < 50; i++) drawn.insert(knobs_of(*space.sample(rng)).lanes);
        EXPECT_EQ(drawn.size(), row.has_choice ? 2u : 1u) << what;
        for (const Knob &knob : space.knobs()) {
            EXPECT_EQ(knob.zero_left_out,
                      knob.name == "lanes" || knob.name == "prefetch" || knob.name == "fetch_weights" ||
                          knob.name == "fetch_panels" || knob.name == "fetch_blocks" || knob.name == "streams" ||
                          knob.name == "fetch_result" || knob.name == "masked" || knob.name == "partition")
                << knob.name;
        }
    }
}

// Vectors along x: where a row of the result holds one, and the input's rows or a copy of its pixels do.
TEST(TileCases, VectorsAlongX) {
    const struct {
        const char *key;
        bool can;
        int64_t untuned, staged;  // lanes and stage_input of the default
    } rows[] = {
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/input_layout:NCHW/output_layout:NCHW", true, 1, 0},
        {"conv2d/input:1x112x112x16/kernel:1x1x16x96/output_layout:NCHW", true, 1, 4},
        {"conv2d/input:1x112x112x16/kernel:1x1x16x96/input_layout:NCHW8c/output_layout:NCHW", true, 1, 4},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x1/padding:1,1x1,1", true, 1, 1},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x3", true, 1, 1},
        {"conv2d/input:1x56x4096x64/kernel:3x3x64x3", true, 1, 4},
        {"conv2d/input:1x56x56x20/kernel:5x5x20x4/padding:2,2x2,2", true, 1, 1},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x12/padding:1,1x1,1", false, 0, 0},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x1/strides:2x2/padding:1,1x1,1", false, 8, 0},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x2", false, 0, 0},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/input_layout:NCHW", false, 0, 0},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256", false, 0, 0},
        {"conv2d/input:1x3x5x64/kernel:1x1x64x256/input_layout:NCHW/output_layout:NCHW", false, 0, 0},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/strides:2x2/input_layout:NCHW/output_layout:NCHW", false, 0, 0},
        {"conv2d/input:1x9x7x64/kernel:3x3x64x64/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW", false, 0, 0},
    };
    const Target target = *parse_target("avx512", 1, "");
    for (const auto &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << w.error().message;
        const Space space = cpu_tile_space({}, conv_loops(*w), target, core_of(Machine(), target));
        const CpuTileKnobs untuned = knobs_of(space.default_candidate());
        EXPECT_EQ(untuned.lanes, row.untuned) << row.key;
        EXPECT_EQ(untuned.stage_input, row.staged) << row.key;
        Rng rng = fixed_draws();
        bool drawn = false;
        for (int i = 0; i < 1000 && !drawn; i++) drawn = knobs_of(*space.sample(rng)).lanes == 1;
        EXPECT_EQ(drawn, row.can) << row.key;
    }
}

// What could be a candidate before there were vectors along x, half vectors and copies of blocks still is one.
TEST(TileCases, OlderCandidatesRemain) {
    const struct {
        const char *key, *knobs, *target;
    } rows[] = {
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24",
         "panel_block:1/pixels:14/row_block:1/rows:1/unroll:4/vectors:2/x_block:32", "avx512"},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/input_layout:NCHW/output_layout:NCHW",
         "panel_block:4/pixels:6/row_block:1/rows:1/unroll:4/vectors:4/x_block:128", "avx512"},
        {"conv2d/input:1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW",
         "panel_block:4/pixels:14/row_block:16/rows:1/skip_rows:1/stage_input:0/unroll:4/unroll_columns:1/"
         "unroll_rows:0/unroll_tiles:1/vectors:2/x_block:2",
         "avx512"},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/input_layout:NCHW8c/output_layout:NCHW8c",
         "panel_block:4/parallel:1/pixels:6/row_block:1/rows:1/unroll:4/vectors:4/x_block:128", "avx512"},
    };
    for (const auto &row : rows) {
        const int threads = std::string_view(row.knobs).find("parallel") == std::string_view::npos ? 1 : 2;
        const Target target = *parse_target(row.target, threads, "");
        const Candidate older = *parse_candidate(std::string("direct@1/cpu_tile@2/") + row.knobs);
        Candidate base;
        base.algorithm = "direct";
        const Space space =
            cpu_tile_space(base, conv_loops(*parse_workload_key(row.key)), target, core_of(Machine(), target));
        const Status status = space.check(older);
        EXPECT_TRUE(status) << row.key << " " << (status ? "" : status.error().message);
    }
}

// The last vector of channels has a mask where it is not whole and lies side by side in memory; untuned where a target has
// masks for free.
TEST(TileCases, MasksTheLastChannels) {
    const struct {
        const char *key, *target;
        bool can;
        int64_t untuned;
    } rows[] = {
        {"conv2d/input:1x14x14x58/kernel:3x3x1x58/padding:1,1x1,1/feature_group_count:58", "avx512", true, 1},
        {"conv2d/input:1x14x14x58/kernel:3x3x1x58/padding:1,1x1,1/feature_group_count:58", "avx2", true, 0},
        {"conv2d/input:1x14x14x58/kernel:3x3x1x58/padding:1,1x1,1/feature_group_count:58", "baseline", false, 0},
        {"conv2d/input:1x14x14x20/kernel:3x3x1x20/padding:1,1x1,1/feature_group_count:20", "avx512", true, 1},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64", "avx512", false, 0},
        {"conv2d/input:1x14x14x58/kernel:1x1x58x58", "avx512", false, 0},
        {"conv2d/input:1x14x14x58/kernel:3x3x1x58/feature_group_count:58/output_layout:NCHW8c", "avx512", false, 0},
        {"conv2d/input:1x14x14x58/kernel:3x3x1x58/feature_group_count:58/dtype:bf16", "avx512", false, 0},
        {"conv2d/input:1x14x14x29/kernel:3x3x1x58/feature_group_count:29", "avx512", false, 0},
    };
    for (const auto &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << w.error().message;
        const Target target = *parse_target(row.target, 1, "");
        const Space space = cpu_tile_space({}, conv_loops(*w), target, core_of(Machine(), target));
        const bool can = std::any_of(space.knobs().begin(), space.knobs().end(),
                                     [](const Knob &knob) { return knob.name == "masked"; });
        EXPECT_EQ(can, row.can) << row.key << " " << row.target;
        EXPECT_EQ(knobs_of(space.default_candidate()).masked, row.untuned) << row.key << " " << row.target;
    }
}

// Code with a test in each multiply-add takes minutes to compile where code without takes seconds.
TEST(TileCases, WhatIsTestedInEachStepIsUnrolledLess) {
    const Target target = *parse_target("avx2", 1, "");
    const auto tests_tiles = [](const CpuTileKnobs &k) { return k.unroll_tiles && k.x_block > 1; };
    const auto all = [](const CpuTileKnobs &) { return true; };
    const struct {
        const char *key;
        std::function<bool(const CpuTileKnobs &)> counts;
        bool is_limited;
    } rows[] = {
        {"conv2d/input:1x57x57x64/kernel:11x11x64x16", all, false},
        {"conv2d_backprop_input/input:1x57x57x16/kernel:11x11x16x64/strides:4x4", all, true},
        {"conv2d/input:1x20x20x7/kernel:11x11x1x7/padding:5,5x5,5/feature_group_count:7", tests_tiles, true},
        {"conv2d/input:1x16x16x32/kernel:11x11x32x16/padding:5,5x5,5", std::not_fn(tests_tiles), false},
    };
    for (const auto &row : rows) {
        const ConvLoops shape = conv_loops(*parse_workload_key(row.key));
        const Space space = cpu_tile_space({}, shape, target, core_of(Machine(), target));
        Rng rng = fixed_draws();
        int64_t most = 0;
        for (int i = 0; i < 1000; i++) {
            const CpuTileKnobs knobs = knobs_of(*space.sample(rng));
            const bool covers = knobs.x_block >= ceil_div(shape.output[0], knobs.pixels);
            if (row.counts(knobs) && !(row.is_limited && covers)) most = std::max(most, unrolled_steps(shape, knobs));
        }
        EXPECT_GT(most, 0) << row.key;
        EXPECT_EQ(most <= 1024, row.is_limited) << row.key << " " << most;
    }
}

// Channels in blocks: whole vectors are stored, and what several groups of a vector read is copied together first.
TEST(TileCases, GroupsInBlocksOfChannels) {
    const Target zen4 = *parse_target(zen4_target, 1, "");
    const auto workload = parse_workload_key(
        "conv2d/input:1x28x28x256/kernel:3x3x8x256/padding:1,1x1,1/feature_group_count:32/input_layout:NCHW16c/"
        "output_layout:NCHW16c");
    ASSERT_TRUE(workload) << workload.error().message;
    const Space space = cpu_tile_space({}, conv_loops(*workload), zen4, core_of(Machine(), zen4));
    EXPECT_EQ(knobs_of(space.default_candidate()).lanes, 0);
    EXPECT_GT(knobs_of(space.default_candidate()).stage_input, 0);
}

}  // namespace
}  // namespace kiln
