#include "schedules/spaces/depthwise/step_tile_space.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "rewrites/conv_loops.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx512_skylake", *avx2 = "x86-64-linux-avx2-fma";

Space space_of(const std::string &key, int64_t parts, const char *target, int threads) {
    return step_tile_space({}, conv_loops(*parse_workload_key(key)), parts, *parse_target(target, threads, target),
                           Core());
}

// A copy of all channels for each block of them took two thirds of the time.
TEST(StepTileSpace, DefaultsCopyNoChannelsForSeveralBlocks) {
    const struct {
        int channels;
        const char *target;
        int64_t parts;
        const char *knobs;
    } table[] = {{256, avx512, 4, "block:4/by_channels:1"}, {96, avx512, 4, "block:2/by_channels:1"},
                 {144, avx512, 4, "block:1/by_channels:0"}, {240, avx512, 4, "block:1/by_channels:0"},
                 {40, avx512, 4, "block:1/by_channels:0"},  {120, avx512, 4, "block:4/by_channels:1"},
                 {810, avx512, 4, "block:4/by_channels:0"}, {144, avx2, 2, "block:2/by_channels:1"}};
    for (const auto &row : table) {
        const std::string c = std::to_string(row.channels);
        const std::string key = "conv2d/input:1x28x28x" + c + "/kernel:3x3x1x" + c +
                                "/padding:1,1x1,1/feature_group_count:" + c + "/dtype:i8/epilogue:requantize_litert";
        const std::string standard = to_text(space_of(key, row.parts, row.target, 1).default_candidate());
        EXPECT_NE(standard.find(row.knobs), std::string::npos) << row.channels << ": " << standard;
    }
}

// Blocks of whole bytes of a vector, and no tensor that is added.
TEST(StepTileSpace, DefaultsUnpackWithin128BitsWhereBlocksAreWhole) {
    const struct {
        int channels;
        const char *target;
        int64_t parts;
        const char *epilogue;
        bool in_lanes;
    } table[] = {
        {64, avx512, 4, "requantize_onnx", true},      {192, avx512, 4, "bias,requantize_litert", true},
        {96, avx512, 4, "requantize_onnx", false},     {32, avx2, 4, "requantize_onnx", true},
        {64, avx512, 4, "requantize_onnx,add", false}, {64, avx2, 2, "requantize_onnx", false},
    };
    for (const auto &row : table) {
        for (const int stride : {1, 2}) {
            const std::string c = std::to_string(row.channels), s = std::to_string(stride);
            const std::string key = "conv2d/input:1x28x28x" + c + "/kernel:3x3x1x" + c +
                                    (stride == 1 ? "" : "/strides:2x2") + "/padding:1,1x1,1/feature_group_count:" + c +
                                    "/dtype:i8/epilogue:" + row.epilogue;
            ASSERT_TRUE(parse_workload_key(key)) << key;
            const Candidate standard = space_of(key, row.parts, row.target, 1).default_candidate();
            EXPECT_EQ(standard.knobs.contains("in_lanes"), row.in_lanes) << key << ": " << to_text(standard);
        }
    }
}

// One vector of channels after the other, where that was raced and rows have steps enough.
TEST(StepTileSpace, DefaultsMakePairsByVector) {
    constexpr const char *sse = "x86-64-linux-sse41";
    const struct {
        int width, channels;
        int64_t parts;
        const char *target, *knobs;
    } rows[] = {
        {56, 128, 2, avx2, "block:1/by_channels:0"}, {28, 60, 2, avx2, "block:1/by_channels:0"},
        {7, 960, 2, avx2, "block:4/by_channels:1"},  {56, 128, 2, sse, "block:4/by_channels:1"},
        {56, 128, 4, avx2, "block:4/by_channels:1"},
    };
    Core core;
    core.pairs_by_vector = true;
    for (const auto &row : rows) {
        const std::string w = std::to_string(row.width), c = std::to_string(row.channels);
        const std::string key = "conv2d/input:1x" + w + "x" + w + "x" + c + "/kernel:3x3x1x" + c +
                                "/padding:1,1x1,1/feature_group_count:" + c + "/dtype:i8/epilogue:requantize_litert";
        const Space space = step_tile_space({}, conv_loops(*parse_workload_key(key)), row.parts,
                                            *parse_target(row.target, 1, row.target), core);
        const std::string standard = to_text(space.default_candidate());
        EXPECT_NE(standard.find(row.knobs), std::string::npos) << key << ": " << standard;
    }
}

// Rows that divide, tiles that stay in registers, blocks of vectors that waste none.
TEST(StepTileSpace, HasADefaultForEveryShape) {
    struct Row {
        const char *key;
        int64_t parts;
        const char *target, *knobs;
    };
    const std::string suffix = "/dtype:i8/epilogue:requantize_litert";
    constexpr Row rows[] = {
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/padding:1,1x1,1/feature_group_count:256", 4, avx512, "share:2"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/strides:2x2/padding:1,1x1,1/feature_group_count:256", 4, avx512,
         "share:1"},
        {"conv2d/input:1x28x28x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48", 4, avx512, "block:1"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/padding:1,1x1,1/feature_group_count:256", 2, avx2, "block:4"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:64", 4, avx512,
         "rows:1"},
        {"conv2d/input:1x2x2x3/kernel:2x2x1x3/feature_group_count:3", 4, avx512, "pixels:1"},
    };
    for (const Row &row : rows) {
        for (const int threads : {1, 2}) {
            const Space space = space_of(row.key + suffix, row.parts, row.target, threads);
            const Candidate standard = space.default_candidate();
            EXPECT_TRUE(space.check(standard)) << row.key;
            EXPECT_NE(to_text(standard).find(row.knobs), std::string::npos) << row.key << ": " << to_text(standard);
            EXPECT_EQ(standard.knobs.contains("parallel"), threads == 2) << row.key;
        }
    }
}

// Steps that no other output shares took longer to store and load than to make again.
TEST(StepTileSpace, DefaultsMakeStepsInTheTileWhereNoOutputSharesThem) {
    const struct {
        const char *shape;
        int64_t parts;
        const char *target;
        bool in_tile;
    } rows[] = {
        {"input:1x112x112x64/kernel:3x3x1x64/strides:2x2/padding:1,1x1,1/feature_group_count:64", 4, avx512, true},
        {"input:1x28x28x240/kernel:3x3x1x240/strides:2x2/padding:1,1x1,1/feature_group_count:240", 4, avx512, true},
        {"input:1x28x28x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64", 4, avx512, false},
        {"input:1x28x28x64/kernel:5x5x1x64/strides:2x2/padding:2,2x2,2/feature_group_count:64", 4, avx512, false},
        {"input:1x28x28x40/kernel:3x3x1x40/strides:2x2/padding:1,1x1,1/feature_group_count:40", 4, avx512, false},
        {"input:1x28x28x64/kernel:3x3x1x64/strides:2x2/padding:1,1x1,1/feature_group_count:64", 2, avx2, false},
    };
    for (const auto &row : rows) {
        const std::string key = std::string("conv2d/") + row.shape + "/dtype:i8/epilogue:requantize_litert";
        for (const int threads : {1, 2}) {
            const Candidate standard = space_of(key, row.parts, row.target, threads).default_candidate();
            EXPECT_EQ(standard.knobs.contains("in_tile"), row.in_tile) << key << ": " << to_text(standard);
        }
    }
}

TEST(StepTileSpace, RefusesTilesThatDoNotFit) {
    struct Row {
        std::map<std::string, int64_t> knobs;
        const char *reason;
    };
    const Row rows[] = {
        {{{"pixels", 3}}, "outputs that share steps fill a tile"},
        {{{"pixels", 8}}, "registers"},
        {{{"in_tile", 1}}, "registers"},
        {{{"in_lanes", 1}}, "registers"},
        {{{"in_lanes", 1}, {"rows", 2}, {"block", 2}}, "within 128 bits in blocks of four vectors"},
        {{{"rows", 9}}, "rows"},
    };
    const Space space = space_of(
        "conv2d/input:1x28x28x256/kernel:3x3x1x256/padding:1,1x1,1/feature_group_count:256/dtype:i8/"
        "epilogue:requantize_litert",
        4, avx512, 1);
    for (const Row &row : rows) {
        Candidate candidate = space.default_candidate();
        candidate.knobs = {{"block", 4}, {"by_channels", 1}, {"pixels", 2}, {"rows", 4}, {"share", 2}};
        ASSERT_TRUE(space.check(candidate));
        for (const auto &[knob, value] : row.knobs) candidate.knobs[knob] = value;
        const Status checked = space.check(candidate);
        ASSERT_FALSE(checked) << row.reason;
        EXPECT_NE(checked.error().message.find(row.reason), std::string::npos) << checked.error().message;
    }
}

}  // namespace
}  // namespace kiln
