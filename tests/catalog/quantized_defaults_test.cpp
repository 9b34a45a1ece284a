// Defaults of quantized convolutions.
#include <gtest/gtest.h>

#include <string>

#include "catalog/catalog.h"
#include "catalog/quantized_algorithm.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

// Of u8, without Winograd.
CpuTileKnobs untuned_direct_sum(const char *shape, const char *target_name) {
    const Workload w =
        *parse_workload_key(std::string("conv2d/input:") + shape + "/dtype:u8/epilogue:bias,requantize_onnx");
    const Target target = *parse_target(target_name, 1, "");
    const Space space = find_algorithm("quantized")->space(w, target, core_of(Machine(), target));
    return *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
}

// Sums of few dot products: small tiles where one vector of products starts in a cycle, whole ones where two do. Numbers with a
// sign are shifted in a copy of a tile, but for cores that do so beside the products.
TEST(QuantizedDefaults, TilesOfQuantizedSumsFollowFromTheCore) {
    const Workload w =
        *parse_workload_key("conv2d/input:1x56x56x256/kernel:1x1x256x64/dtype:i8/epilogue:bias,requantize_onnx");
    const struct {
        const char *target;
        int64_t least, most;
        bool copies;
    } table[] = {
        {zen4_target, 1, 6, true}, {zen5_target, 12, 32, false}, {"avx512vnni", 12, 32, true}, {"avxvnni", 4, 8, true}};
    for (const auto &row : table) {
        const Target target = *parse_target(row.target, 1, "");
        const auto candidate = default_candidate(w, target, core_of(Machine(), target), default_error_budget);
        ASSERT_TRUE(candidate) << candidate.error().message;
        int64_t sums = 1;
        for (const auto &[name, value] : candidate->knobs) {
            if (name == "vectors" || name == "pixels" || name == "rows") sums *= value;
        }
        EXPECT_GE(sums, row.least) << to_text(*candidate);
        EXPECT_LE(sums, row.most) << to_text(*candidate);
        EXPECT_EQ(to_text(*candidate).find("stage_input:4") != std::string::npos, row.copies) << to_text(*candidate);
    }
}

// Halide 21 has the dot product of 8 bits for AVX-512 only, and takes four times as long where it is asked for without.
TEST(QuantizedDefaults, ChannelsOfAStep) {
    const struct {
        const char *target;
        int64_t parts;
    } table[] = {
        {zen4_target, 4},
        {"x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_sapphirerapids-f16c-fma-sse41", 4},
        {"avx512vnni", 4},
        {"avx512", 2},
        {"avxvnni", 2},
        {"avx2", 2},
        {"baseline", 2}};
    const Workload w =
        *parse_workload_key("conv2d/input:1x56x56x256/kernel:1x1x256x64/dtype:u8/epilogue:requantize_onnx");
    for (const auto &row : table)
        EXPECT_EQ(quantized_loops(w, *parse_target(row.target, 1, "")).parts, row.parts) << row.target;
}

// Halide took more than a minute for the second one.
TEST(QuantizedDefaults, QuantizedSumsSpreadNoMoreThanCompiles) {
    const Workload w = *parse_workload_key(
        "conv2d/input:2x5x5x7/kernel:1x1x7x34/strides:4x6/padding:-2,-1x1,2/lhs_dilation:11x13/rhs_dilation:13x1/"
        "batch_group_count:2/dtype:u8/output_layout:NCHW17c/kernel_layout:HWOI/epilogue:bias,requantize_litert");
    const Target target = *parse_target("avx512", 1, "");
    const std::string before = "quantized@1/cpu_tile@2/panel_block:2/pixels:10/row_block:1/rows:",
                      behind = "/spread:1/stage_input:1/unroll:7/unroll_tiles:1/vectors:1/x_block:1";
    EXPECT_TRUE(check_candidate(*parse_candidate(before + "1" + behind), w, target));
    const Status refused = check_candidate(*parse_candidate(before + "3" + behind), w, target);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("are too much code"), std::string::npos) << refused.error().message;
}

// Packed weights of integers have a form of their own.
TEST(QuantizedDefaults, WeightsAreOneStream) {
    const CpuTileKnobs k = untuned_direct_sum("1x1x1x9216/kernel:1x1x9216x1024", "avx2");
    EXPECT_EQ(k.streams, 0);
}

// Padding is tested for in place where some tile of a row has none, and on CPUs where nobody compared. Whole panels are fetched by
// loops that leave no rows out.
TEST(QuantizedDefaults, PaddingIsCopiedWhereEachTileWouldTest) {
    const struct {
        const char *shape;
        const char *target;
        bool copies, fetches_panels;
    } table[] = {
        {"1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", "avx512vnni", true, true},
        {"1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", zen4_target, false, false},
        {"1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", zen5_target, true, true},
        {"1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", zen5_target, false, false},
        {"1x28x28x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512vnni", true, false},   // two tiles, weights in L2
        {"1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512vnni", false, false},  // four tiles
        {"1x56x56x32/kernel:3x3x32x32/strides:2x2/padding:1,1x1,1", "avx512vnni", false, false},  // two, one in padding
        {"1x14x14x512/kernel:3x3x512x512/strides:2x2/padding:1,1x1,1", "avx512vnni", true, true},
        {"1x14x14x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "avx512", true, true},  // it is converted
        {"1x14x14x512/kernel:3x3x512x512/strides:2x2/padding:1,1x1,1", "avx2", true, true},
        {"1x16x16x64/kernel:3x3x64x64", "avx512vnni", false, false},
    };
    for (const auto &row : table) {
        const CpuTileKnobs k = untuned_direct_sum(row.shape, row.target);
        EXPECT_EQ(k.stage_input, row.copies) << row.shape << " " << row.target;
        EXPECT_EQ(k.fetch_panels, row.fetches_panels) << row.shape << " " << row.target;
        EXPECT_TRUE(!k.fetch_panels || !k.skip_rows) << row.shape << " " << row.target;
    }
}

// Where each tile tests for padding, a Zen 4 gains by tests without code of its own for tiles that need none.
TEST(QuantizedDefaults, TestedTilesHaveOneCode) {
    const struct {
        const char *shape;
        const char *target;
        int64_t partition;
    } table[] = {
        {"1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", zen4_target, 0},
        {"1x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", zen4_target, 0},
        {"1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", zen4_target, 1},  // four tiles
        {"1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512vnni", 1},
    };
    for (const auto &row : table) {
        const CpuTileKnobs k = untuned_direct_sum(row.shape, row.target);
        EXPECT_EQ(k.partition, row.partition) << row.shape << " " << row.target;
        EXPECT_EQ(k.stage_input, 0) << row.shape << " " << row.target;
        // Loops that leave out rows would fetch no panel.
        EXPECT_EQ(k.fetch_panels, 0) << row.shape << " " << row.target;
    }
}

// Tiles of long epilogues end where rows do: sums would be kept in memory, and requantizations with an addend not be staged.
TEST(QuantizedDefaults, RowsAreWholeTilesWhereEpiloguesAreLong) {
    const struct {
        const char *shape;
        int64_t pixels;  // of a row
    } table[] = {
        {"1x14x14x1024/kernel:1x1x1024x2048/strides:2x2/dtype:u8/epilogue:bias,requantize_onnx", 49},
        {"1x7x7x2048/kernel:1x1x2048x512/dtype:i8/epilogue:bias,requantize_litert", 49},
        {"1x56x56x64/kernel:1x1x64x256/dtype:u8/epilogue:bias,requantize_onnx,add", 56 * 56},
        {"1x30x30x192/kernel:1x1x192x384/epilogue:bias,gelu", 900},
        {"1x30x30x256/kernel:1x1x256x384/epilogue:bias,silu", 900},
    };
    for (const auto &row : table) {
        const auto w = parse_workload_key(std::string("conv2d/input:") + row.shape);
        ASSERT_TRUE(w) << w.error().message;
        const Target target = *parse_target(zen4_target, 1, "");
        const auto candidate = default_candidate(*w, target, core_of(Machine(), target), default_error_budget);
        ASSERT_TRUE(candidate) << candidate.error().message;
        const CpuTileKnobs k = *decode_knobs<CpuTileKnobs>(candidate->knobs);
        EXPECT_EQ(row.pixels % k.pixels, 0) << to_text(*candidate);
    }
}

// Without VNNI wherever it takes fewer cycles, and on a Zen 4 and a Zen 5 beside it.
TEST(QuantizedDefaults, WinogradBesideDotProducts) {
    const struct {
        const char *shape, *target, *algorithm;
    } table[] = {
        {"1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", zen4_target, "quantized_winograd_3"},
        {"1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", zen4_target, "quantized_winograd_3"},
        {"1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", zen5_target, "quantized_winograd_3"},
        {"1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", "avx512vnni", "quantized"},
        {"1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", "avx2", "quantized_winograd_3"},
        {"1x56x56x32/kernel:3x3x32x32/padding:1,1x1,1", zen4_target, "quantized"},     // transforms of few channels
        {"1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", zen4_target, "quantized"},  // F(3) could leave 32 bits
        {"1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", zen4_target, "quantized"},
        {"1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", zen5_target, "quantized"},
    };
    for (const auto &row : table) {
        const auto w =
            parse_workload_key(std::string("conv2d/input:") + row.shape + "/dtype:u8/epilogue:bias,requantize_onnx");
        ASSERT_TRUE(w) << w.error().message;
        const Target target = *parse_target(row.target, 1, "");
        const auto candidate = default_candidate(*w, target, core_of(Machine(), target), default_error_budget);
        ASSERT_TRUE(candidate) << candidate.error().message;
        EXPECT_EQ(candidate->algorithm, row.algorithm) << row.shape << " " << row.target;
    }
}

// LLVM keeps the products of more than two steps of pairs apart, for which 16 registers have no room.
TEST(PairsOfIntegers, AreUnrolledTwiceWhereRegistersAreFew) {
    constexpr const char *avx2 = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    struct Row {
        const char *algorithm, *key, *target;
        int64_t unroll;
        const char *why;
    };
    constexpr Row rows[] = {
        {"quantized", "conv2d/input:1x14x14x512/kernel:1x1x512x512/dtype:u8/epilogue:bias,requantize_onnx", avx2, 2,
         "pairs"},
        {"quantized", "conv2d/input:1x14x14x512/kernel:1x1x512x512/dtype:i8/epilogue:bias,requantize_litert",
         "x86-64-linux-sse41", 2, "pairs, in half vectors"},
        {"quantized", "conv2d/input:1x28x28x64/kernel:5x5x64x96/padding:2,2x2,2/dtype:u8/epilogue:bias,requantize_onnx",
         avx2, 2, "a window"},
        {"quantized", "conv2d/input:1x14x14x54/kernel:1x1x54x64/dtype:u8/epilogue:bias,requantize_onnx", avx2, 1,
         "27 pairs, which two do not divide"},
        {"quantized", "conv1d/input:1x1x2048/kernel:1x2048x1000/dtype:u8/epilogue:bias,requantize_onnx", avx2, 4,
         "one pixel"},
        {"direct", "conv2d/input:1x14x14x512/kernel:1x1x512x512/epilogue:bias,relu", avx2, 4, "floats"},
        {"quantized", "conv2d/input:1x14x14x512/kernel:1x1x512x512/dtype:u8/epilogue:bias,requantize_onnx", zen4_target,
         4, "fours"},
        {"quantized_winograd_2",
         "conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx", avx2, 2,
         "Winograd's pairs"},
        {"quantized_winograd_2",
         "conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx",
         zen4_target, 4, "Winograd's pairs, in 32 registers"},
    };
    for (const Row &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const Workload w = *parse_workload_key(row.key);
        const Space space = find_algorithm(row.algorithm)->space(w, target, core_of(Machine(), target));
        const Candidate candidate = space.default_candidate();
        EXPECT_EQ(candidate.knobs.at("unroll"), row.unroll) << row.key << " " << row.target << ": " << row.why;
    }
}

}  // namespace
}  // namespace kiln
