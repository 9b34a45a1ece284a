// Untuned register tiles of targets with 16 vector registers.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/spaces/depthwise/row_tile_space.h"

namespace kiln {
namespace {

CpuTileKnobs untuned(const Workload &w, const char *name) {
    const Target target = *parse_target(name, 1, "");
    return *decode_knobs<CpuTileKnobs>(
        cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target)).default_candidate().knobs);
}

// A tile's sums, the inputs that it keeps for them and the weights beside these: four beyond the 16 registers, where the sizes of an
// image leave no better tile.
TEST(FewRegisters, DepthwiseTilesHardlySpill) {
    for (const char *name : {"avx2", "baseline"}) {
        for (const int64_t window : {3, 5, 7}) {
            for (const auto &[side, channels] : {std::pair{112, 64}, {56, 144}, {28, 120}, {14, 384}, {7, 960}}) {
                const std::string of = std::to_string(channels), pad = std::to_string(window / 2),
                                  k = std::to_string(window), image = std::to_string(side);
                const std::string key = "conv2d/input:1x" + image + "x" + image + "x" + of + "/kernel:" + k + "x" + k +
                                        "x1x" + of + "/padding:" + pad + "," + pad + "x" + pad + "," + pad +
                                        "/feature_group_count:" + of;
                const auto w = parse_workload_key(key);
                ASSERT_TRUE(w) << w.error().message;
                const CpuTileKnobs tile = untuned(*w, name);
                EXPECT_LE(tile.vectors * (tile.rows + 1) * (tile.pixels + 1), 20) << key << " " << name;
            }
        }
    }
}

// Without multiply-adds that take an operand to all lanes, tiles of one vector have few sums, and groups have more vectors.
TEST(FewRegisters, SumsOfOneVectorStayInThem) {
    const struct {
        const char *key;
        int64_t vectors;
    } rows[] = {
        {"conv2d/input:1x28x28x256/kernel:3x3x32x256/padding:1,1x1,1/feature_group_count:8", 2},
        {"conv2d/input:1x14x14x512/kernel:3x3x32x512/padding:1,1x1,1/feature_group_count:16", 2},
        {"conv2d/input:1x112x112x32/kernel:3x3x32x8/strides:2x2/padding:1,1x1,1", 1},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x8", 1},
    };
    for (const auto &row : rows) {
        const CpuTileKnobs k = untuned(*parse_workload_key(row.key), "avx2");
        EXPECT_EQ(k.vectors, row.vectors) << row.key;
        EXPECT_LE(k.pixels * k.rows, k.vectors == 1 ? 9 : 12) << row.key;
    }
}

// Panels end where blocks of channels do, and the panels of one take turns: they share its lines. Two panels at least take turns with
// AVX2, where there are strides with SSE, and of up to 9 taps with AVX-512; three to eight where only they divide all.
TEST(FewRegisters, PanelsFillBlocks) {
    const std::string depthwise = "conv2d/input:1x28x28x96/kernel:3x3x1x96/padding:1,1x1,1/feature_group_count:96",
                      strided =
                          "conv2d/input:1x28x28x96/kernel:3x3x1x96/strides:2x2/padding:1,1x1,1/feature_group_count:96",
                      of_five = "conv2d/input:1x28x28x40/kernel:3x3x1x40/padding:1,1x1,1/feature_group_count:40",
                      of_eleven = "conv2d/input:1x20x20x88/kernel:3x3x1x88/padding:1,1x1,1/feature_group_count:88",
                      of_five_by_five =
                          "conv2d/input:1x28x28x96/kernel:5x5x1x96/padding:2,2x2,2/feature_group_count:96",
                      dense = "conv2d/input:1x28x28x64/kernel:1x1x64x96";
    const struct {
        std::string key;
        const char *target, *layout;
        int64_t panel_block;  // 0: any
    } rows[] = {
        {depthwise, "avx2", "NCHW8c", 2},     {depthwise, "avx2", "NCHW16c", 2},
        {depthwise, "avx2", "NCHW32c", 4},    {of_five, "avx2", "NCHW8c", 5},
        {of_eleven, "avx2", "NCHW8c", 2},     {depthwise, "baseline", "NCHW4c", 1},
        {depthwise, "avx512", "NCHW16c", 2},  {of_five_by_five, "avx512", "NCHW16c", 1},
        {depthwise, "baseline", "NCHW8c", 2}, {strided, "avx2", "NCHW8c", 2},
        {strided, "avx2", "NCHW16c", 2},      {dense, "avx2", "NCHW8c", 0},
        {dense, "avx2", "NCHW16c", 0},        {dense, "baseline", "NCHW16c", 0},
    };
    for (const auto &row : rows) {
        const std::string key = row.key + "/input_layout:" + row.layout + "/output_layout:" + row.layout;
        const Workload w = *parse_workload_key(key);
        const Target target = *parse_target(row.target, 1, "");
        const CpuTileKnobs k = untuned(w, row.target);
        const TileFacts f = tile_facts(conv_loops(w), tile_lanes(k, target), target, core_of(Machine(), target));
        EXPECT_TRUE(f.panels_fill_blocks(k.vectors)) << key;
        if (row.panel_block) {
            EXPECT_EQ(k.panel_block * k.vectors, row.panel_block) << key;
        }
    }
}

TEST(FewRegisters, NoCandidateHasPanelsOfPartsOfBlocks) {
    const Workload w =
        *parse_workload_key("conv2d/input:1x28x28x64/kernel:1x1x64x96/input_layout:NCHW16c/output_layout:NCHW16c");
    const Target target = *parse_target("avx2", 1, "");
    const Space space = cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target));
    Candidate candidate = space.default_candidate();
    candidate.knobs["vectors"] = 3, candidate.knobs["pixels"] = 4;
    candidate.knobs["panel_block"] = 1, candidate.knobs["x_block"] = 1;
    const Status refused = space.check(candidate);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("begin in one block"), std::string::npos) << refused.error().message;
    candidate.knobs["vectors"] = 2;
    EXPECT_TRUE(space.check(candidate));
    // No panel fills blocks of 15.
    const Workload odd = *parse_workload_key("conv2d/input:1x28x28x64/kernel:1x1x64x150/output_layout:NCHW15c");
    const Space any = cpu_tile_space({}, conv_loops(odd), target, core_of(Machine(), target));
    EXPECT_TRUE(any.check(any.default_candidate()));
}

// Rows of pixels: few sums beside whole lines of the input, or vectors of channels where these lines do not stay in L1; those of
// very many channels in a copy.
TEST(FewRegisters, PlanesAreReadLineByLine) {
    const struct {
        const char *shape;
        int64_t lanes, stage_input;
    } rows[] = {
        {"input:1x112x112x32/kernel:1x1x32x16", 1, 0},  {"input:1x80x80x64/kernel:1x1x64x64", 1, 0},
        {"input:1x14x14x384/kernel:1x1x384x96", 0, 0},  {"input:1x26x26x256/kernel:1x1x256x128", 0, 0},
        {"input:1x13x13x512/kernel:1x1x512x256", 0, 4}, {"input:1x7x7x960/kernel:1x1x960x320", 0, 4},
    };
    for (const auto &row : rows) {
        const std::string key = std::string("conv2d/") + row.shape + "/input_layout:NCHW/output_layout:NCHW";
        const CpuTileKnobs k = untuned(*parse_workload_key(key), "avx2");
        EXPECT_EQ(k.lanes == 1, row.lanes == 1) << key;
        EXPECT_EQ(k.stage_input, row.stage_input) << key;
        if (k.lanes == 1) {
            EXPECT_LE(k.pixels * k.vectors + k.pixels, 12) << key;
        }
    }
}

// A single channel on one side is NHWC and NCHW at once. Vectors along its rows have a copy of the padding, as they need it.
TEST(FewRegisters, SingleChannelsLieAlongRows) {
    const char *const shapes[] = {
        "input:1x64x64x1/kernel:3x3x1x2/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW",
        "input:1x64x64x1/kernel:3x3x1x2/padding:1,1x1,1/output_layout:NCHW",
        "input:1x64x64x2/kernel:3x3x2x1/padding:1,1x1,1/input_layout:NCHW",
        "input:1x64x64x1/kernel:3x3x1x1/padding:1,1x1,1",
        "input:1x1x9000x1/kernel:1x31x1x1/padding:0,0x15,15",
        "input:1x1x9000x1/kernel:1x31x1x2/padding:0,0x15,15/output_layout:NCHW",
    };
    for (const char *shape : shapes) {
        const Workload w = *parse_workload_key(std::string("conv2d/") + shape);
        for (const char *name : {"baseline", "avx2"}) {
            const Target target = *parse_target(name, 1, "");
            const Space space = cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target));
            const Status status = space.check(space.default_candidate());
            EXPECT_TRUE(status) << shape << ": " << status.error().message;
            EXPECT_EQ(untuned(w, name).lanes, 1) << shape << " " << name;
        }
    }
}

// Masks that are vectors: rows of depthwise convolutions as they lie, without stores of parts of vectors where a row has narrower
// vectors, in tiles whose sums and weights stay in registers.
TEST(FewRegisters, RowsAreReadAsTheyLie) {
    const struct {
        int64_t side, window, stride, masked, lanes;
    } rows[] = {
        {56, 3, 1, 1, 8},
        {56, 5, 1, 1, 8},
        {14, 3, 1, 1, 8},
        {7, 3, 1, 1, 4},
        {7, 3, 2, 1, 4},
        {7, 5, 1, 1, 8},
        // A padded copy, made by masks, where windows are wide for the row or columns are apart.
        {56, 3, 2, 0, 8},
        {28, 5, 2, 0, 8},
        {14, 5, 1, 0, 8},
        {28, 7, 1, 0, 8},
        {56, 9, 1, 0, 8},
    };
    for (const auto &row : rows) {
        const std::string image = std::to_string(row.side), k = std::to_string(row.window),
                          pad = std::to_string(row.window / 2), strides = row.stride == 2 ? "/strides:2x2" : "";
        const std::string key = "conv2d/input:1x" + image + "x" + image + "x64/kernel:" + k + "x" + k + "x1x64" +
                                strides + "/padding:" + pad + "," + pad + "x" + pad + "," + pad +
                                "/feature_group_count:64/input_layout:NCHW/output_layout:NCHW";
        const auto w = parse_workload_key(key);
        ASSERT_TRUE(w) << w.error().message;
        const Target target = *parse_target("avx2", 1, "");
        const RowTileKnobs tile = *decode_knobs<RowTileKnobs>(
            row_tile_space({}, conv_loops(*w), target, core_of(Machine(), target)).default_candidate().knobs);
        EXPECT_EQ(tile.masked, row.masked) << key;
        EXPECT_EQ(tile.lanes, row.lanes) << key;
        if (tile.masked) {
            EXPECT_LE(tile.vectors * tile.rows, 8) << key;
        }
    }
}

}  // namespace
}  // namespace kiln
