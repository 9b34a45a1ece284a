// Untuned tiles: what they fetch ahead, and how they read an input that is not copied first.
#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

CpuTileKnobs knobs_of(const Candidate &candidate) { return *decode_knobs<CpuTileKnobs>(candidate.knobs); }

struct FetchRow {
    const char *key;
    bool can;
    int64_t untuned;
    int64_t l3_bytes = 0;
};

// Texts from before the knob came are candidates, too.
void expect_fetch(int64_t CpuTileKnobs::*knob, const FetchRow &row) {
    const auto w = parse_workload_key(row.key);
    ASSERT_TRUE(w) << w.error().message;
    const Target target = *parse_target("avx512", 1, "");
    Core core = core_of(Machine(), target);
    core.l3_bytes = row.l3_bytes;
    const Space space = cpu_tile_space({}, conv_loops(*w), target, core);
    const std::string name = knob_name(knob);
    const bool can = std::ranges::any_of(space.knobs(), [&](const Knob &other) { return other.name == name; });
    EXPECT_EQ(can, row.can) << row.key;
    EXPECT_EQ(knobs_of(space.default_candidate()).*knob, row.untuned) << row.key;
    Candidate before = space.default_candidate();
    before.knobs.erase(name);
    EXPECT_TRUE(space.check(before)) << row.key;
}

// Pixels to come are fetched where they lie behind each other and are not copied first; untuned beyond a part of L2.
TEST(TileCases, FetchesAhead) {
    const FetchRow rows[] = {
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24", true, 1},
        {"conv2d/input:1x7x7x144/kernel:1x1x144x24", true, 0},
        {"conv2d/input:2x57x57x64/kernel:1x1x64x40/strides:2x2", true, 0},  // pixels apart
        {"conv2d/input:1x56x56x256/kernel:1x1x256x128", true, 0},           // several panels read a block
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24/input_layout:NCHW", false, 0},
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24/padding:1,1x1,1", false, 0},
        {"conv2d/input:1x128x128x16/kernel:3x3x16x24", false, 0},
        {"conv2d/input:1x128x128x64/kernel:1x1x32x24/feature_group_count:2", false, 0},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", true, 1},
        {"conv2d/input:1x56x56x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", true, 0},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", true, 1, 32 << 20},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", true, 0, 260 << 20},
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24", true, 1, 260 << 20},
    };
    for (const FetchRow &row : rows) expect_fetch(&CpuTileKnobs::prefetch, row);
}

// Vectors of pixels do not test for padding one by one.
TEST(TileCases, PaddingBesidePixelsIsCopied) {
    for (const char *key :
         {"conv3d/input:1x23x10x7x173/kernel:1x1x1x173x1/padding:2,1x2,-2x-1,2/rhs_dilation:1x1x8/input_layout:NCHW",
          "conv2d/input:1x10x7x40/kernel:1x1x40x1/padding:0,0x0,2/input_layout:NCHW",
          "conv2d/input:1x10x7x40/kernel:1x1x40x1/padding:1,1x1,1/input_layout:NCHW"}) {
        for (const char *name : {"baseline", "avx2", "avx512"}) {
            const Target target = *parse_target(name, 1, "");
            const Space space =
                cpu_tile_space({}, conv_loops(*parse_workload_key(key)), target, core_of(Machine(), target));
            const Status fits = space.check(space.default_candidate());
            EXPECT_TRUE(fits) << key << ' ' << name << ": " << fits.error().message;
        }
    }
}

// Tiles of one row, whose pixels read the same columns of taps, leave out what lies in the padding of a large dilation.
TEST(TileCases, LargeDilationsLeaveOutPadding) {
    const struct {
        const char *key, *target;
        bool leaves_out;
        int64_t pixels = 1;  // what divides those of a tile
    } rows[] = {
        {"conv2d/input:1x33x33x960/kernel:3x3x960x256/padding:24,24x24,24/rhs_dilation:24x24", "avx2", true, 3},
        {"conv2d/input:1x14x14x960/kernel:3x3x960x256/padding:12,12x12,12/rhs_dilation:12x12", "avx2", true, 2},
        {"conv2d/input:1x65x65x320/kernel:3x3x320x256/padding:36,36x36,36/rhs_dilation:36x36", "avx2", true},
        {"conv2d/input:1x33x33x960/kernel:3x3x960x256/padding:6,6x6,6/rhs_dilation:6x6", "avx2", false},
        {"conv2d/input:1x33x33x960/kernel:3x3x960x256/padding:24,24x24,24/rhs_dilation:24x24", "avx512", false},
        {"conv2d/input:1x33x33x960/kernel:3x3x960x256/padding:24,24x24,24/rhs_dilation:24x24/input_layout:NCHW", "avx2",
         false},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(std::string(row.key) + " " + row.target);
        const Target target = *parse_target(row.target, 1, "");
        const Core core = core_of(Machine(), target);
        const Space space = cpu_tile_space({}, conv_loops(*parse_workload_key(row.key)), target, core);
        const CpuTileKnobs k = knobs_of(space.default_candidate());
        EXPECT_EQ(k.rows == 1 && k.skip_rows && !k.stage_input, row.leaves_out) << to_text(space.default_candidate());
        EXPECT_EQ(k.pixels % row.pixels, 0) << k.pixels;
    }
}

// The pixels of these tiles, of which strides leave every second one, lie a multiple of 4 KiB apart: all are in one set of L1.
TEST(TileCases, PixelsThatStridesLeaveShareFewSets) {
    for (const char *key : {"conv2d/input:1x28x28x512/kernel:1x1x512x1024/strides:2x2/epilogue:bias,add,relu",
                            "conv2d/input:1x56x56x512/kernel:1x1x512x512/strides:2x2/epilogue:bias,relu",
                            "conv2d/input:1x14x14x1024/kernel:1x1x1024x2048/strides:2x2/epilogue:bias,relu"}) {
        for (const char *name : {"avx512", "avx2",
                                 "x86-64-linux-avx-avx2-f16c-fma-sse41-avx512-avx512_skylake-"
                                 "avx512_cannonlake-avx512_zen4"}) {
            const Target target = *parse_target(name, 1, "");
            const Core core = core_of(Machine(), target);
            const Space space = cpu_tile_space({}, conv_loops(*parse_workload_key(key)), target, core);
            const CpuTileKnobs k = knobs_of(space.default_candidate());
            EXPECT_LE(k.pixels * k.rows, core.l1_ways) << key << " " << name;
        }
    }
}

// Vectors that are a part of a line would fetch it several times. Two panels share a fetch where L2 does not keep rows that are read
// again.
TEST(TileCases, FetchesPartsOfLinesWhereRowsAreLost) {
    const struct {
        const char *key, *target;
        int64_t prefetch;
    } rows[] = {
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", "avx512", 1},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", "avx2", 0},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", "baseline", 0},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:2,2x2,2/feature_group_count:144", "avx2", 1},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:2,2x2,2/feature_group_count:144", "baseline",
         0},
        {"conv2d/input:1x128x128x136/kernel:5x5x1x136/strides:2x2/padding:2,2x2,2/feature_group_count:136", "avx2", 0},
        {"conv2d/input:1x64x64x144/kernel:5x5x1x144/strides:2x2/padding:2,2x2,2/feature_group_count:144", "avx2", 0},
        {"conv2d/input:1x150x150x144/kernel:5x5x1x144/padding:2,2x2,2/feature_group_count:144", "avx2", 1},
        {"conv2d/input:1x150x150x192/kernel:3x3x1x192/strides:2x2/padding:1,1x1,1/feature_group_count:192", "avx2", 1},
        {"conv2d/input:1x112x112x144/kernel:7x7x1x144/padding:3,3x3,3/feature_group_count:144", "avx2", 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        Core core = core_of(Machine(), target);
        core.l2_bytes = 512 << 10;
        const Space space = cpu_tile_space({}, conv_loops(*parse_workload_key(row.key)), target, core);
        EXPECT_EQ(knobs_of(space.default_candidate()).prefetch, row.prefetch) << row.key << ' ' << row.target;
    }
}

// Weights are fetched ahead where a loop streams vectors of them; untuned beyond an eighth of L2, and where some pixels share a
// load.
TEST(TileCases, FetchesWeightsAhead) {
    const FetchRow rows[] = {
        {"conv2d/input:1x7x7x512/kernel:1x1x512x2048", true, 0},  // by panels
        {"conv1d/input:1x6x512/kernel:1x512x2048", true, 8},      // kilobytes
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", true, 8},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256", true, 0},  // 64 KiB stay in L2
        {"conv2d/input:1x56x56x64/kernel:1x1x64x64", false, 0},  // 16 KiB
        {"conv1d/input:1x1x2048/kernel:1x2048x1000", true, 0},   // one pixel: the processor fetches what is only read
        {"conv2d/input:1x14x14x512/kernel:3x3x256x512/feature_group_count:2", false, 0},
        {"conv2d/input:1x14x14x512/kernel:3x3x1x512/feature_group_count:512", false, 0},
    };
    for (const FetchRow &row : rows) expect_fetch(&CpuTileKnobs::fetch_weights, row);
}

// Panel by panel where several tiles share one, and L2 keeps four.
TEST(TileCases, FetchesPanelsOfWeights) {
    const FetchRow rows[] = {
        {"conv2d/input:1x7x7x512/kernel:1x1x512x2048", true, 1},
        {"conv2d/input:1x14x14x1024/kernel:1x1x1024x256", true, 1},
        {"conv1d/input:1x6x512/kernel:1x512x2048", true, 0},        // one tile
        {"conv2d/input:1x7x7x4096/kernel:1x1x4096x1024", true, 0},  // half a megabyte a panel
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", true, 0},  // the same
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256", true, 0},                                // they stay in L2
        {"conv2d/input:1x56x56x64/kernel:1x1x64x64", false, 0},
    };
    for (const FetchRow &row : rows) expect_fetch(&CpuTileKnobs::fetch_panels, row);
}

// Blocks of pixels that follow each other in memory, where several panels read one and another follows; untuned beyond half of L2.
TEST(TileCases, FetchesBlocksOfTheInput) {
    const FetchRow rows[] = {
        {"conv2d/input:1x56x56x256/kernel:1x1x256x64", true, 1},
        {"conv2d/input:4x28x28x512/kernel:1x1x512x128", true, 1},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256", true, 1},
        {"conv2d/input:1x28x28x96/kernel:1x1x96x64", true, 0},     // stays in L2
        {"conv2d/input:1x56x56x16/kernel:1x1x16x64", false, 0},    // stays in any
        {"conv2d/input:1x7x7x2048/kernel:1x1x2048x512", true, 0},  // one block
        {"conv2d/input:1x56x56x256/kernel:1x1x256x16", true, 0},   // one panel
        {"conv2d/input:1x56x56x256/kernel:1x1x256x64/strides:2x2", false, 0},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", false, 0},
        {"conv2d/input:1x56x56x256/kernel:1x1x64x256/feature_group_count:4", false, 0},
        {"conv2d/input:1x56x56x256/kernel:1x1x256x64/input_layout:NCHW", false, 0},
        {"conv2d/input:1x112x112x256/kernel:1x1x256x128/dtype:u8/epilogue:bias,requantize_onnx", true, 0},  // converted
    };
    for (const FetchRow &row : rows) expect_fetch(&CpuTileKnobs::fetch_blocks, row);
}

// One pixel reads its weights in several streams, and has whole ones.
TEST(TileCases, ReadsWeightsInStreams) {
    const struct {
        const char *key, *target;
        bool can;
        int64_t untuned, vectors;  // 0: any
    } rows[] = {
        {"conv1d/input:1x1x9216/kernel:1x9216x4096/epilogue:bias,relu", "avx2", true, 1, 8},
        {"conv1d/input:1x1x9216/kernel:1x9216x4096/epilogue:bias,relu", "avx512", true, 1, 8},
        {"conv1d/input:1x1x9216/kernel:1x9216x4096/epilogue:bias,relu", "baseline", true, 1, 12},
        {"conv2d/input:1x7x7x512/kernel:7x7x512x4096", "avx2", true, 1, 8},
        {"conv1d/input:1x1x1024/kernel:1x1024x60", "avx2", true, 1, 8},
        {"conv1d/input:1x1x1024/kernel:1x1024x56", "avx2", true, 0, 7},     // four hide no latency
        {"conv1d/input:1x1x4096/kernel:1x4096x10", "avx2", true, 0, 0},     // one stream
        {"conv1d/input:1x1x100/kernel:1x100x100", "avx2", false, 0, 0},     // stay in L1
        {"conv1d/input:1x2x9216/kernel:1x9216x4096", "avx2", false, 0, 0},  // two pixels
        {"conv1d/input:2x1x9216/kernel:1x9216x4096", "avx2", false, 0, 0},
        {"conv1d/input:1x1x512/kernel:1x64x512/feature_group_count:8", "avx2", false, 0, 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Space space = cpu_tile_space({}, loops, target, core_of(Machine(), target));
        const bool can = std::ranges::any_of(space.knobs(), [](const Knob &knob) { return knob.name == "streams"; });
        EXPECT_EQ(can, row.can) << row.key << " " << row.target;
        const CpuTileKnobs k = knobs_of(space.default_candidate());
        EXPECT_EQ(k.streams, row.untuned) << row.key << " " << row.target;
        EXPECT_TRUE(row.vectors == 0 || k.vectors == row.vectors) << row.key << " " << row.target << " " << k.vectors;
        Candidate part = space.default_candidate();
        part.knobs["streams"] = 1, part.knobs["vectors"] = 16 / tile_lanes(k, target);
        EXPECT_FALSE(space.check(part)) << row.key << " " << row.target << ": one stream";
    }
}

// Results beyond L2, side by side; untuned those of several panels of 1x1 layers, and others of few products in many panels.
TEST(TileCases, FetchesResults) {
    const struct {
        const char *key, *target;
        bool can;
        int64_t untuned;
    } rows[] = {
        {"conv2d/input:1x64x64x64/kernel:1x1x64x810", "avx2", true, 1},
        {"conv2d/input:1x64x64x64/kernel:1x1x64x810", "avx512", true, 1},
        {"conv2d/input:1x64x64x512/kernel:1x1x512x810", "avx2", true, 1},
        {"conv2d/input:1x64x64x256/kernel:3x3x256x128/padding:1,1x1,1", "avx2", true, 0},
        {"conv2d/input:1x256x256x64/kernel:1x1x64x32", "avx2", true, 1},
        {"conv2d/input:1x256x256x64/kernel:1x1x64x16", "avx2", true, 0},  // one panel
        {"conv2d/input:1x128x128x96/kernel:1x1x96x32", "avx2", true, 1},
        {"conv2d/input:1x16x16x64/kernel:1x1x64x32", "avx2", false, 0},
        {"conv2d/input:1x64x64x64/kernel:1x1x64x810/output_layout:NCHW8c", "avx2", false, 0},
        {"conv2d/input:1x128x128x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64", "avx2", true, 0},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64", "avx2", false, 0},
        {"conv2d/input:1x128x128x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64/output_layout:NCHW", "avx2",
         false, 0},
        {"conv2d/input:1x128x128x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64/dtype:u8/"
         "epilogue:bias,requantize_onnx",
         "avx2", false, 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Space space = cpu_tile_space({}, loops, target, core_of(Machine(), target));
        const Candidate standard = space.default_candidate();
        EXPECT_EQ(decode_knobs<CpuTileKnobs>(standard.knobs)->fetch_result, row.untuned)
            << row.key << " " << row.target;
        Candidate fetching = standard;
        fetching.knobs["fetch_result"] = 2;
        EXPECT_EQ(space.check(fetching).ok(), row.can) << row.key << " " << row.target;
    }
}

// A Zen 2, by races: depthwise results that L3 does not keep beside the input, and inputs of more than half of L3, but none where a tile is
// a column of pixels. Other CPUs keep their own.
TEST(TileCases, FetchesOfDepthwiseLayersAreThoseOfTheCpu) {
    const struct {
        const char *key, *cpu;
        int64_t prefetch, fetch_result;
    } rows[] = {
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144",
         "AuthenticAMD-23-49-0", 1, 1},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144",
         "AuthenticAMD-25-1-1", 1, 0},
        {"conv2d/input:1x64x64x240/kernel:5x5x1x240/strides:2x2/padding:1,2x1,2/feature_group_count:240",
         "AuthenticAMD-23-49-0", 0, 0},
        {"conv2d/input:1x64x64x240/kernel:5x5x1x240/strides:2x2/padding:1,2x1,2/feature_group_count:240",
         "AuthenticAMD-25-1-1", 1, 0},
        {"conv2d/input:1x256x256x96/kernel:3x3x1x96/strides:2x2/padding:0,1x0,1/feature_group_count:96",
         "AuthenticAMD-23-49-0", 0, 0},
        {"conv2d/input:1x256x256x96/kernel:3x3x1x96/strides:2x2/padding:0,1x0,1/feature_group_count:96",
         "AuthenticAMD-25-1-1", 1, 0},
        {"conv2d/input:1x112x112x144/kernel:7x7x1x144/padding:3,3x3,3/feature_group_count:144", "AuthenticAMD-23-49-0",
         0, 1},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const auto &row : rows) {
        Machine machine;
        machine.cpu_id = row.cpu, machine.l2_bytes = 512 << 10, machine.l3_bytes = 16 << 20;
        const Space space =
            cpu_tile_space({}, conv_loops(*parse_workload_key(row.key)), target, core_of(machine, target));
        const CpuTileKnobs k = knobs_of(space.default_candidate());
        EXPECT_EQ(k.prefetch, row.prefetch) << row.key << " " << row.cpu;
        EXPECT_EQ(k.fetch_result, row.fetch_result) << row.key << " " << row.cpu;
    }
}

// Where stores decide, the panels of one tile follow each other.
TEST(TileCases, WritesResultsOfFewProductsInTheOrderOfMemory) {
    const struct {
        const char *key, *target;
        bool in_order;
        int threads = 1;
    } rows[] = {
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96/epilogue:bias,relu", "avx2", true},
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96/epilogue:bias,clamp:0:6", "avx2", true},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x128/padding:1,1x1,1/epilogue:bias,relu", "avx2", true},
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96/epilogue:bias,silu", "avx2", false},
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96/epilogue:bias,hard_swish", "avx2", false},
        {"conv2d/input:1x256x256x96/kernel:1x1x96x96", "avx2", false},
        {"conv2d/input:1x320x320x16/kernel:2x2x16x32/strides:2x2", "avx2", false},
        {"conv2d/input:1x32x32x16/kernel:1x1x16x96", "avx2", false},
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96", "avx512", false},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x128/padding:1,1x1,1/epilogue:bias,relu", "avx512", true},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x128/padding:1,1x1,1/epilogue:bias,relu", zen4_target, false},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x128/padding:1,1x1,1/epilogue:bias,silu", "avx512", false},
        {"conv2d/input:1x901x161x1/kernel:5x5x1x128/padding:2,2x2,2", "avx512", false},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x32/padding:1,1x1,1", "avx512", false},
        {"conv2d/input:1x901x161x1/kernel:3x3x1x128/padding:1,1x1,1", "avx2", true, 2},
        {"conv2d/input:1x256x256x16/kernel:1x1x16x96", "avx2", false, 2},  // one row of all pixels
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, row.threads, "");
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Space space = cpu_tile_space({}, loops, target, core_of(Machine(), target));
        const CpuTileKnobs k = *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
        EXPECT_EQ(k.x_block == 1 && k.row_block <= 4, row.in_order) << row.key << " " << row.target;
        EXPECT_TRUE(!row.in_order || k.panel_block > 1) << row.key;
    }
}

// Untuned blocks of x tiles of layers whose pixels are one row.
TEST(TileCases, BlocksOfTilesThatShareAPanel) {
    const struct {
        const char *key, *target;
        int64_t x_block;  // 0: all tiles
    } rows[] = {
        // Weights in L1, in L2 and beyond a quarter of it; no such core; one panel; an input that is turned first.
        {"conv2d/input:1x56x56x32/kernel:1x1x32x128/epilogue:bias,add,relu", "avx512", 1},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/epilogue:bias,add,relu", "avx512", 4},
        {"conv2d/input:1x28x28x512/kernel:1x1x512x256", "avx512", 8},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/epilogue:bias,add,relu", zen4_target, 128},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x64", "avx512", 128},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/input_layout:NCHW", "avx512", 128},
        // Weights beyond L2 pass once: there is one block, whatever the number of its tiles.
        {"conv2d/input:1x7x7x512/kernel:1x1x512x2048/epilogue:bias,add,relu", "avx512", 0},
        {"conv2d/input:1x7x7x512/kernel:1x1x512x2048/epilogue:bias,add,relu", "avx2", 0},
        {"conv2d/input:1x7x7x2048/kernel:1x1x2048x512/epilogue:bias,relu", "avx2", 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Core core = core_of(Machine(), target);
        const CpuTileKnobs k = knobs_of(cpu_tile_space({}, loops, target, core).default_candidate());
        const TileFacts facts = tile_facts(loops, tile_lanes(k, target), target, core);
        EXPECT_EQ(k.x_block, row.x_block ? row.x_block : facts.x_tiles(k.pixels)) << row.key << " " << row.target;
    }
}

TEST(TileCases, FetchesWeightsInOneWay) {
    const auto w = *parse_workload_key("conv2d/input:1x7x7x512/kernel:1x1x512x2048");
    const Target target = *parse_target("avx512", 1, "");
    const Space space = cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target));
    const struct {
        const char *what;
        Knobs changed;
        bool can;
    } rows[] = {
        {"the default", {}, true},
        {"both", {{"fetch_weights", 8}}, false},
        {"kilobytes", {{"fetch_weights", 8}, {"fetch_panels", 0}}, true},
        {"panels that one tile reads", {{"x_block", 1}}, false},
        {"each panel with all tiles", {{"x_block", 1}, {"panel_block", 1}}, true},
    };
    for (const auto &row : rows) {
        Candidate candidate = space.default_candidate();
        for (const auto &[name, value] : row.changed) candidate.knobs[name] = value;
        std::erase_if(candidate.knobs,
                      [](const auto &knob) { return knob.first == "fetch_panels" && knob.second == 0; });
        EXPECT_EQ(space.check(candidate).ok(), row.can) << row.what;
    }
}

// Tiles inside of the padding have code of their own wherever there is padding; untuned where it is not copied first,
// and where tiles are not unrolled.
TEST(TileCases, PartitionsWhatIsReadInPlace) {
    const FetchRow rows[] = {
        {"conv2d/input:1x28x28x128/kernel:3x3x1x128/padding:1,1x1,1/feature_group_count:128", true, 1},
        {"conv2d/input:1x28x28x128/kernel:3x3x32x128/padding:1,1x1,1/feature_group_count:4", true, 1},
        {"conv2d/input:1x28x28x128/kernel:3x3x1x128/feature_group_count:128", false, 0},
        {"conv2d/input:1x28x28x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", true, 0},
        {"conv2d/input:1x28x28x128/kernel:1x1x128x128", false, 0},
    };
    for (const FetchRow &row : rows) expect_fetch(&CpuTileKnobs::partition, row);
}

// The last tile of a row that tiles do not divide would test each input of many sums. Tiles of a copy may be of any size.
TEST(TileCases, TilesWithoutACopyDivideTheRow) {
    const struct {
        const char *key;
        int64_t pixels, copies;
        const char *target = "avx512";
    } rows[] = {
        {"conv2d/input:1x24x160x96/kernel:3x3x96x48/strides:2x2/padding:1,1x1,1", 8, 0},
        {"conv2d/input:1x24x144x96/kernel:3x3x96x48/strides:2x2/padding:1,1x1,1", 9, 0},
        {"conv2d/input:1x24x158x96/kernel:3x3x96x48/strides:2x2/padding:1,1x1,1", 9, 1},  // nothing divides 79
        {"conv2d/input:1x28x28x128/kernel:3x3x128x256/strides:2x2/padding:1,1x1,1", 14, 1},
        {"conv2d/input:1x33x47x20/kernel:5x3x20x10/padding:2,2x1,1", 6, 0, "avx2"},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const Space space =
            cpu_tile_space({}, conv_loops(*parse_workload_key(row.key)), target, core_of(Machine(), target));
        const CpuTileKnobs k = knobs_of(space.default_candidate());
        EXPECT_EQ(k.pixels, row.pixels) << row.key;
        EXPECT_EQ(k.stage_input, row.copies) << row.key;
    }
}

}  // namespace
}  // namespace kiln
