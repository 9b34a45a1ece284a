#include "catalog/matrix/matrix_algorithm.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "schedules/spaces/matrix/matrix_steps.h"
#include "schedules/spaces/matrix/matrix_tile_space.h"

namespace kiln {
namespace {

ConvLoops loops_of_key(const std::string &text) { return matrix_loops(*parse_workload_key(text)); }

TEST(MatrixSteps, ChannelsFillProducts) {
    const struct {
        const char *what;
        int64_t channels, chunks, chunk_channels;
    } rows[] = {
        {"one product", 64, 1, 64},          {"two that are full", 128, 2, 64}, {"two equal ones", 80, 2, 40},
        {"the last is not full", 68, 2, 36}, {"part of a step", 5, 1, 8},       {"never a single step", 1, 1, 8},
    };
    for (const auto &row : rows) {
        ConvLoops loops;
        loops.input_channels = row.channels;
        const MatrixSteps steps = matrix_steps(loops, 1);
        EXPECT_EQ(steps.chunks, row.chunks) << row.what;
        EXPECT_EQ(steps.chunk_channels, row.chunk_channels) << row.what;
        EXPECT_GE(steps.channels(), row.channels) << row.what;
        EXPECT_EQ(steps.of_panel(), row.chunks * row.chunk_channels / 4 + 1) << row.what;
    }
}

TEST(MatrixSteps, InputIsReadInPlaceWhereProductsFindAllOfIt) {
    const struct {
        const char *key;
        bool in_place;
    } rows[] = {
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert", true},
        {"conv2d/input:2x4x4x40/kernel:1x1x40x16/dtype:u8/epilogue:requantize_litert", true},
        {"conv2d/input:1x7x7x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert", false},    // 49 pixels
        {"conv2d/input:1x8x8x66/kernel:1x1x66x16/dtype:i8/epilogue:requantize_litert", false},    // part of a step
        {"conv2d/input:1x8x8x196/kernel:1x1x196x16/dtype:i8/epilogue:requantize_litert", false},  // 4 x 52 channels
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/strides:2x2/dtype:i8/epilogue:requantize_litert", false},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", false},
        {"conv2d/input:1x1x18x64/kernel:1x3x64x16/dtype:i8/epilogue:requantize_litert", false},
        // Padding that cuts off: what lies behind the outputs is not read, what lies in front moves them.
        {"conv1d/input:1x48x64/kernel:1x64x16/padding:0,-32/dtype:i8/epilogue:requantize_litert", true},
        {"conv1d/input:1x48x64/kernel:1x64x16/padding:-16,-16/dtype:i8/epilogue:requantize_litert", false},
        {"conv2d/input:1x3x16x64/kernel:1x1x64x16/padding:-1,-1x0,0/dtype:i8/epilogue:requantize_litert", false},
        {"conv3d/input:1x2x1x16x64/kernel:1x1x1x64x16/padding:-1,0x0,0x0,0/dtype:i8/epilogue:requantize_litert", false},
    };
    for (const auto &row : rows) EXPECT_EQ(reads_in_place(loops_of_key(row.key), 1), row.in_place) << row.key;
}

std::vector<int64_t> blocks_of(const char *text, int threads) {
    const Target target = *parse_target("amx", threads, "");
    const Space space = matrix_tile_space({}, loops_of_key(text), 1, target, core_of(Machine(), target));
    for (const Knob &knob : space.knobs()) {
        if (knob.name == "block") return knob.values;
    }
    return {};
}

TEST(MatrixTileSpace, BlocksAreEqualPartsOfTheImage) {
    using Sizes = std::vector<int64_t>;
    EXPECT_EQ(blocks_of("conv2d/input:1x7x7x64/kernel:3x3x64x16/dtype:i8/epilogue:requantize_litert", 1),
              (Sizes{1, 2, 3, 5}));
    // Tiles of 16 pixels: 21 in place, so that no part is smaller; 4 of 49 pixels.
    EXPECT_EQ(blocks_of("conv2d/input:1x24x14x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert", 1),
              (Sizes{1, 3, 7, 21}));
    EXPECT_EQ(blocks_of("conv2d/input:1x7x7x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert", 1),
              (Sizes{1, 2, 4}));
    // No more than 4096 positions.
    EXPECT_EQ(blocks_of("conv2d/input:1x256x256x64/kernel:3x3x64x16/dtype:i8/epilogue:requantize_litert", 1).back(),
              16);
}

TEST(MatrixTileSpace, DefaultsStayInL2AndOccupyAllThreads) {
    const struct {
        const char *key;
        int threads;
        int64_t block, parallel;
    } rows[] = {
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", 1, 28, 0},
        {"conv2d/input:1x56x56x512/kernel:3x3x512x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", 1, 14, 0},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", 4, 7, 1},
        {"conv2d/input:1x1x1x512/kernel:1x1x512x640/dtype:i8/epilogue:requantize_litert", 4, 1, 2},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target("amx", row.threads, "");
        const Space space = matrix_tile_space({}, loops_of_key(row.key), 1, target, core_of(Machine(), target));
        const auto knobs = checked_knobs<MatrixTileKnobs>(space.default_candidate().knobs);
        EXPECT_EQ(knobs.block, row.block) << row.key << " " << row.threads;
        EXPECT_EQ(knobs.parallel, row.parallel) << row.key << " " << row.threads;
        EXPECT_TRUE(space.check(space.default_candidate())) << row.key;
    }
}

// The algorithm that is used untuned.
TEST(MatrixTileSpace, TileRegistersAreForManyChannels) {
    const struct {
        const char *key, *target, *algorithm;
    } rows[] = {
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "amx",
         "matrix"},
        {"conv2d/input:1x7x7x512/kernel:3x3x512x512/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "amx",
         "matrix"},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x64/dtype:i8/epilogue:requantize_litert", "amx", "matrix"},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x64/dtype:i8/epilogue:requantize_litert", "avx512vnni", "quantized"},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:bf16", "amx", "matrix"},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", "amx", "winograd_4"},
        {"conv2d/input:1x56x56x16/kernel:1x1x16x64/dtype:i8/epilogue:requantize_litert", "amx", "quantized"},
        {"conv2d/input:1x1x1x512/kernel:1x1x512x1000/dtype:i8/epilogue:requantize_litert", "amx", "quantized"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3/dtype:u8/epilogue:requantize_litert",
         "amx", "quantized"},
        {"conv2d/input:1x56x56x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64/dtype:i8/"
         "epilogue:requantize_litert",
         "amx", "quantized_depthwise"},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const auto chosen = default_candidate(*parse_workload_key(row.key), target, core_of(Machine(), target), 1);
        ASSERT_TRUE(chosen) << chosen.error().message;
        EXPECT_EQ(chosen->algorithm, row.algorithm) << row.key;
    }
}

TEST(MatrixTileSpace, RefusesWhatHasNoRowsOfPositions) {
    const struct {
        const char *key, *target, *reason;
    } rows[] = {
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert", "avx512vnni",
         "no tile registers"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16", "amx", "multiply i8, u8 and bf16"},
        {"conv2d/input:1x8x8x64/kernel:1x1x32x16/feature_group_count:2/dtype:i8/epilogue:requantize_litert", "amx",
         "groups"},
        {"conv2d/input:1x8x8x64/kernel:3x3x64x16/rhs_dilation:2x2/dtype:i8/epilogue:requantize_litert", "amx",
         "rhs_dilation"},
        {"conv2d/input:1x8x8x64/kernel:3x3x64x16/lhs_dilation:2x2/dtype:i8/epilogue:requantize_litert", "amx",
         "lhs_dilation"},
        // One output of a panel of 16.
        {"conv2d/input:1x1x1x268435456/kernel:1x1x268435456x1/dtype:bf16", "amx", "packed weights"},
        {"conv3d/input:1x8x8x8x64/kernel:3x3x3x64x16/dtype:i8/epilogue:requantize_litert", "amx", "planes"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/dtype:i8/input_layout:NCHW/epilogue:requantize_litert", "amx",
         "side by side"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x16/dtype:i8/epilogue:requantize_litert/kernel_zero_point:true", "amx",
         "zero points"},
    };
    for (const auto &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << row.key << workload.error().message;
        const Status applies = matrix_applies("", *workload, *parse_target(row.target, 1, ""));
        ASSERT_FALSE(applies) << row.key;
        EXPECT_NE(applies.error().message.find(row.reason), std::string::npos) << applies.error().message;
    }
}

}  // namespace
}  // namespace kiln
