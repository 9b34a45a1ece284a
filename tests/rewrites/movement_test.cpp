#include "rewrites/movement.h"

#include <gtest/gtest.h>

#include "schedules/spaces/matrix_form.h"
#include "schedules/spaces/move_tile_space.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

Movement movement_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return movement(*w);
}

// "20*1 35*20": extent * read stride, outermost first; of 16 values only 3 exist: "16(3)*1".
std::string text(const Movement &m) {
    std::string result = m.is_regular ? "" : "irregular";
    for (const MovedDigit &d : m.digits) {
        if (!m.is_regular) continue;
        result += (result.empty() ? "" : " ") + std::to_string(d.extent);
        if (d.valid != d.extent) result += "(" + std::to_string(d.valid) + ")";
        result += "*" + std::to_string(d.read_stride);
    }
    for (const MovedLimit &limit : m.limits) {
        result += " [";
        for (int64_t step : limit.steps) result += (result.back() == '[' ? "" : ",") + std::to_string(step);
        result += "<" + std::to_string(limit.extent) + "]";
    }
    return result;
}

TEST(Movement, Digits) {
    struct Row {
        const char *key, *digits;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NHWC", "1400*1"},
        {"layout_transform/input:1x1x1x1/from_layout:NHWC/to_layout:NCHW", "1*0"},
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW", "2*700 20*1 35*20"},
        {"layout_transform/input:1x5x7x20/from_layout:NCHW/to_layout:NHWC", "35*1 20*35"},
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:CHWN", "20*1 35*20 2*700"},
        {"layout_transform/input:2x5x7x32/from_layout:NHWC/to_layout:NCHW16c", "2*1120 2*16 35*32 16*1"},
        {"layout_transform/input:2x5x7x3/from_layout:NHWC/to_layout:NCHW16c", "70*3 16(3)*1"},
        {"layout_transform/input:1x5x7x20/from_layout:NHWC/to_layout:NCHW16c", "2*16 35*20 16*1 [16,0,1<20]"},
        {"layout_transform/input:1x5x7x32/from_layout:NCHW16c/to_layout:NCHW8c", "2*560 2*8 35*16 8*1"},
        {"layout_transform/input:1x5x7x20/from_layout:NCHW8c/to_layout:NCHW16c", "2*560 35*8 2*280 8*1 [16,0,8,1<20]"},
        {"layout_transform/input:1x5x7x40/from_layout:NCHW16c/to_layout:NCHW8c", "irregular"},
        {"layout_transform/input:1x5x7x40/from_layout:NCHW12c/to_layout:NCHW8c", "irregular"},
        {"layout_transform/input:1x5x7x17/from_layout:NCHW16c/to_layout:NHWC", "irregular"},
        {"layout_transform/input:1x5x7x3/from_layout:NCHW16c/to_layout:NHWC", "35*16 3*1"},
        {"layout_transform/kernel:3x3x17x32/from_layout:OIHW/to_layout:OIHW16o", "2*2448 153*1 16*153"},
        {"space_to_depth/input:2x6x8x3/block:2x4", "6*48 2*12 2*24 12*1"},
        {"space_to_depth/input:1x6x8x3/input_layout:NCHW/output_layout:NCHW/block:2x4", "2*8 4*1 9*16 2*4"},
        {"space_to_depth/input:1x5x8x3/block:2x4", "3*48 2*12 2*24 12*1 [2,0,1,0<5]"},
        {"space_to_depth/input:1x6x8x3/output_layout:NCHW16c/block:2x2", "irregular"},
        {"space_to_depth/input:1x6x8x4/output_layout:NCHW16c/block:2x2", "3*64 4*8 2*32 8*1"},
        {"space_to_depth/input:1x6x8x8/output_layout:NCHW16c/block:2x2", "2*64 3*128 64*1"},
        {"depth_to_space/input:2x3x2x24/block:2x4", "6*48 2*12 2*24 12*1"},
        {"depth_to_space/input:1x3x2x24/input_layout:NCHW/output_layout:NCHW/block:2x4", "9*2 2*72 2*1 4*18"},
        {"space_to_depth/input:2x24x3/block:4", "144*1"},
    };
    for (const Row &row : rows) EXPECT_EQ(text(movement_of(row.key)), row.digits) << row.key;
}

Machine large_caches() {
    Machine machine;
    machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    return machine;
}

TEST(MoveTileSpace, Defaults) {
    struct Row {
        const char *key;
        int64_t method, lanes, rows;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NHWC", move_rows, 16, 1},
        {"layout_transform/input:2x5x7x32/from_layout:NHWC/to_layout:NCHW16c", move_rows, 16, 1},
        {"layout_transform/input:1x9x9x64/from_layout:NCHW/to_layout:NHWC", move_matrix, 1, 1},
        {"layout_transform/input:1x9x9x64/dtype:bf16/from_layout:NCHW/to_layout:NHWC", move_matrix, 1, 1},
        {"layout_transform/input:1x9x9x64/dtype:i8/from_layout:NCHW/to_layout:NHWC", move_matrix, 1, 1},
        {"layout_transform/input:1x9x9x12/from_layout:NCHW/to_layout:NHWC", move_transpose, 8, 8},
        {"layout_transform/input:1x9x9x28/dtype:bf16/from_layout:NCHW/to_layout:NHWC", move_transpose, 16, 16},
        {"layout_transform/input:1x7x9x64/dtype:i8/from_layout:NCHW/to_layout:NHWC", move_transpose, 16, 16},
        {"layout_transform/input:1x9x9x5/from_layout:NCHW/to_layout:NHWC", move_transpose, 4, 8},
        {"layout_transform/input:1x9x9x3/from_layout:NCHW/to_layout:NHWC", move_shuffle, 16, 1},
        {"layout_transform/input:1x9x9x3/from_layout:NHWC/to_layout:NCHW", move_shuffle, 16, 1},
        {"layout_transform/input:1x9x9x3/from_layout:NHWC/to_layout:NCHW16c", move_shuffle, 16, 1},
        {"layout_transform/input:1x9x9x20/from_layout:NCHW16c/to_layout:NCHW12c", move_rows, 8, 1},
        {"space_to_depth/input:1x32x32x3/block:2x2", move_shuffle, 16, 1},
        {"space_to_depth/input:1x32x32x3/input_layout:NCHW/output_layout:NCHW/block:2x2", move_shuffle, 16, 1},
        {"space_to_depth/input:1x32x32x3/block:16x16", move_rows, 16, 1},
        {"space_to_depth/input:1x31x31x3/block:2x2", move_rows, 2, 1},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : rows) {
        const Space space = move_tile_space({}, movement_of(row.key), target, {});
        const Candidate &c = space.default_candidate();
        EXPECT_EQ(c.knob("method"), row.method) << row.key;
        EXPECT_EQ(c.knob("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knob("rows"), row.rows) << row.key;
    }
}

// Beyond L3 blocks are a quarter of L2, fetched where they are one run of memory, where results cannot be streamed.
TEST(MoveTileSpace, DefaultsBeyondTheCaches) {
    struct Row {
        const char *target, *key;
        int64_t lanes, rows, inner, block_read, block_written, ahead;
    };
    constexpr const char *arm = "arm-64-linux";
    constexpr Row rows[] = {
        {"avx512", "layout_transform/input:16x113x113x60/from_layout:NCHW/to_layout:NHWC", 16, 8, 1, 128, 4, 2},
        {"avx512", "layout_transform/input:16x113x113x64/from_layout:NHWC/to_layout:NCHW", 16, 8, 0, 8, 64, 1},
        {"avx512", "layout_transform/input:16x112x112x60/from_layout:NCHW/to_layout:NCHW16c", 16, 8, 1, 512, 1, 2},
        {"avx512", "layout_transform/input:16x112x112x120/dtype:bf16/from_layout:NCHW/to_layout:NHWC", 16, 16, 0, 2, 8,
         1},
        {"avx512", "layout_transform/input:16x113x113x128/dtype:bf16/from_layout:NHWC/to_layout:NCHW", 32, 16, 0, 8, 32,
         1},
        {"avx512", "layout_transform/input:16x113x113x256/dtype:i8/from_layout:NHWC/to_layout:NCHW", 64, 16, 0, 16, 16,
         1},
        // Rows of 128 bytes with 800 KB between them.
        {"avx512", "layout_transform/input:60x56x112x32/from_layout:NHWC/to_layout:CHWN", 16, 8, 0, 4, 128, 0},
        // Rows of 16 KB are cut to 2 KB.
        {"avx512", "layout_transform/input:1x63x67x4096/from_layout:NHWC/to_layout:NCHW", 16, 8, 0, 64, 8, 1},
        {arm, "layout_transform/input:16x112x112x64/from_layout:NCHW/to_layout:NHWC", 4, 8, 1, 128, 16, 2},
    };
    for (const Row &row : rows) {
        const Target target = *parse_target(row.target, 1, avx512);
        const Candidate c = move_tile_space({}, movement_of(row.key), target, large_caches()).default_candidate();
        EXPECT_EQ(c.knob("method"), move_transpose) << row.key;
        EXPECT_EQ(c.knob("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knob("rows"), row.rows) << row.key;
        EXPECT_EQ(c.knob("inner"), row.inner) << row.key;
        EXPECT_EQ(c.knob("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knob("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knob("ahead"), row.ahead) << row.key;
    }
}

TEST(MoveTileSpace, RowsBeyondTheCachesAreWalkedInFewRuns) {
    constexpr std::pair<const char *, int64_t> rows[] = {
        {"layout_transform/input:16x112x112x64/from_layout:NHWC/to_layout:NCHW16c", 1},
        {"layout_transform/input:16x112x112x64/from_layout:NCHW16c/to_layout:NHWC", 0},
        {"layout_transform/input:1x28x28x64/from_layout:NHWC/to_layout:NCHW16c", 0},
        {"layout_transform/input:4096x64x64/from_layout:NHWC/to_layout:NHWC", 0},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const auto &[key, order] : rows) {
        const Candidate c = move_tile_space({}, movement_of(key), target, large_caches()).default_candidate();
        EXPECT_EQ(c.knob("method"), move_rows) << key;
        EXPECT_EQ(c.knob("order"), order) << key;
    }
}

// Rows that are shorter than a page are fetched ahead, and stored by narrow vectors.
TEST(MoveTileSpace, ShuffledRowsBeyondTheCaches) {
    struct Row {
        const char *key;
        int64_t lanes, ahead;
    };
    constexpr Row rows[] = {
        {"space_to_depth/input:80x416x416x3/dtype:i8/block:2x2", 16, 1},
        {"space_to_depth/input:1x416x416x3/dtype:i8/block:2x2", 32, 0},
        {"space_to_depth/input:20x416x416x3/block:2x2", 16, 0},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : rows) {
        const Space space = move_tile_space({}, movement_of(row.key), target, large_caches());
        const Candidate &c = space.default_candidate();
        EXPECT_EQ(c.knob("method"), move_shuffle) << row.key;
        EXPECT_EQ(c.knob("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knob("ahead"), row.ahead) << row.key;
        EXPECT_TRUE(space.check(c)) << row.key;
    }
    // One loop has no second.
    const Space planes = move_tile_space(
        {}, movement_of("layout_transform/input:1x99x99x3/from_layout:NHWC/to_layout:NCHW"), target, {});
    Candidate c = planes.default_candidate();
    EXPECT_EQ(c.knob("ahead"), 0);
    c.knobs["ahead"] = 1;
    EXPECT_FALSE(planes.check(c));
}

// A few lines with all columns where that is one run of the operand and small, else a line's rows for long.
TEST(MoveTileSpace, StreamedDefaults) {
    struct Row {
        const char *key;
        int64_t block_read, block_written, ahead, order;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:16x112x112x64/from_layout:NCHW/to_layout:NHWC", 64, 1, 1, 1},
        {"layout_transform/input:16x112x112x64/from_layout:NHWC/to_layout:NCHW", 4, 4, 2, 0},
        {"layout_transform/input:16x112x112x64/from_layout:NCHW16c/to_layout:NCHW", 1, 4, 2, 0},
        {"layout_transform/input:64x56x112x32/from_layout:NHWC/to_layout:CHWN", 2, 1, 1, 1},
        {"layout_transform/input:64x56x112x20/from_layout:NHWC/to_layout:CHWN", 2, 1, 1, 1},
        {"layout_transform/input:16x112x112x128/dtype:bf16/from_layout:NHWC/to_layout:NCHW", 4, 4, 2, 0},
        {"layout_transform/input:1x112x112x4096/from_layout:NHWC/to_layout:NCHW", 256, 1, 2, 0},  // 256 KB
        {"layout_transform/input:1x64x64x8192/from_layout:NHWC/to_layout:NCHW", 64, 1, 1, 1},     // 512 KB
        {"layout_transform/kernel:3x3x1024x1024/from_layout:OIHW/to_layout:OIHW16i16o", 16, 1, 1, 1},
    };
    const Target target = *parse_target("baseline", 1, avx512);
    for (const Row &row : rows) {
        const Candidate c = move_tile_space({}, movement_of(row.key), target, large_caches()).default_candidate();
        EXPECT_EQ(c.knob("method"), move_stream) << row.key;
        EXPECT_EQ(c.knob("lanes"), 1) << row.key;
        EXPECT_EQ(c.knob("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knob("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knob("ahead"), row.ahead) << row.key;
        EXPECT_EQ(c.knob("order"), row.order) << row.key;
    }
}

// In a cache blocks are a quarter of L2 at most, of bytes an eighth, and each thread has some.
TEST(MoveTileSpace, MatrixDefaults) {
    struct Row {
        const char *key;
        int threads;
        int64_t block_read, block_written;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:1x28x28x64/from_layout:NCHW/to_layout:NHWC", 1, 64, 4},
        {"layout_transform/input:1x28x28x64/from_layout:NCHW/to_layout:NHWC", 4, 64, 1},
        {"layout_transform/input:1x28x28x256/dtype:i8/from_layout:NCHW/to_layout:NHWC", 1, 16, 2},
        {"layout_transform/input:1x56x56x64/from_layout:NHWC/to_layout:NCHW", 1, 4, 64},
        {"layout_transform/input:4x57x57x60/from_layout:NHWC/to_layout:NCHW", 1, 4, 64},
        {"layout_transform/kernel:3x3x64x64/from_layout:OIHW/to_layout:OIHW16i16o", 1, 16, 1},
    };
    for (const Row &row : rows) {
        const Target target = *parse_target("avx2", row.threads, avx512);
        const Space space = move_tile_space({}, movement_of(row.key), target, large_caches());
        const Candidate &c = space.default_candidate();
        EXPECT_EQ(c.knob("method"), move_matrix) << row.key;
        EXPECT_EQ(c.knob("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knob("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knob("ahead"), 0) << row.key;
        EXPECT_TRUE(space.check(c)) << row.key;
    }
}

TEST(MatrixForm, LinesOnBothSidesOfElementsThatExist) {
    struct Row {
        const char *key;
        int rows, columns, runs;  // digits; -1: none
        int64_t row_count, column_count;
    };
    constexpr Row table[] = {
        {"layout_transform/input:2x7x7x64/from_layout:NCHW/to_layout:NHWC", 2, 1, -1, 64, 49},
        {"layout_transform/input:2x8x8x20/from_layout:NHWC/to_layout:NCHW", 2, 1, -1, 64, 20},
        {"layout_transform/input:2x8x8x64/dtype:i8/from_layout:NCHW/to_layout:NHWC", 2, 1, -1, 64, 64},
        // [o, i, hw, i16, o16] of [o, i, (i16, hw)].
        {"layout_transform/kernel:3x3x32x64/from_layout:OIHW/to_layout:OIHW16i16o", 4, 2, 3, 16, 144},
        {"layout_transform/kernel:1x1x32x64/from_layout:OIHW/to_layout:OIHW16i16o", 2, 1, -1, 16, 32},
        // [c, hw, n] of [n, hw, c]: pixels are too many to be in every block.
        {"layout_transform/input:64x56x112x20/from_layout:NHWC/to_layout:CHWN", 2, 0, -1, 64, 20},
        {"layout_transform/input:64x56x112x12/from_layout:NHWC/to_layout:CHWN", -1, -1, -1, 0, 0},
        {"layout_transform/input:2x7x7x60/from_layout:NCHW/to_layout:NHWC", 2, 1, -1, 60, 49},
        // Fewer rows or columns than a line has, elements that do not exist, no transpose.
        {"layout_transform/input:2x7x7x12/from_layout:NCHW/to_layout:NHWC", -1, -1, -1, 0, 0},
        {"layout_transform/input:2x8x8x12/from_layout:NHWC/to_layout:NCHW", -1, -1, -1, 0, 0},
        {"layout_transform/input:2x8x8x60/from_layout:NCHW/to_layout:NCHW16c", -1, -1, -1, 0, 0},
        {"layout_transform/input:2x8x8x64/from_layout:NHWC/to_layout:NCHW16c", -1, -1, -1, 0, 0},
        {"layout_transform/input:1x9x9x20/from_layout:NCHW16c/to_layout:NCHW12c", -1, -1, -1, 0, 0},
    };
    for (const Row &row : table) {
        const MatrixForm form = matrix_form(movement_of(row.key), *parse_target("avx2", 1, avx512));
        EXPECT_EQ(form.rows, row.rows) << row.key;
        EXPECT_EQ(form.columns, row.columns) << row.key;
        EXPECT_EQ(form.runs, row.runs) << row.key;
        EXPECT_EQ(form.row_count, row.row_count) << row.key;
        EXPECT_EQ(form.column_count, row.column_count) << row.key;
        if (form.rows >= 0) EXPECT_EQ(form.has_whole_lines(), row.row_count != 60) << row.key;
        EXPECT_EQ(matrix_form(movement_of(row.key), *parse_target("arm-64-linux", 1, avx512)).rows, -1) << row.key;
    }
}

TEST(MoveTileSpace, StreamsWhatDoesNotStayInACache) {
    struct Row {
        const char *knob;
        int64_t value;
        const char *reason;
    };
    constexpr Row refused[] = {
        {"lanes", 4, "lanes and rows are 1"},
        {"inner", 1, "only transposed tiles"},
        {"ahead", 2, "does not follow"},
        {"block_read", 8, "all of their columns"},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    const Space space =
        move_tile_space({}, movement_of("layout_transform/kernel:3x3x1024x1024/from_layout:OIHW/to_layout:OIHW16i16o"),
                        target, large_caches());
    EXPECT_TRUE(space.check(space.default_candidate()));
    for (const Row &row : refused) {
        Candidate c = space.default_candidate();
        c.knobs[row.knob] = row.value;
        const Status status = space.check(c);
        ASSERT_FALSE(status) << row.knob;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
    const Space small = move_tile_space(
        {}, movement_of("layout_transform/input:1x28x28x64/from_layout:NHWC/to_layout:NCHW"), target, large_caches());
    Candidate c = small.default_candidate();
    c.knobs["method"] = move_stream;
    EXPECT_FALSE(small.check(c));
    // Planes of 113 x 113 are not whole lines: stored plainly.
    const Space ragged =
        move_tile_space({}, movement_of("layout_transform/input:16x113x113x64/from_layout:NHWC/to_layout:NCHW"), target,
                        large_caches());
    c = ragged.default_candidate();
    c.knobs["lanes"] = c.knobs["rows"] = 1, c.knobs["inner"] = 0, c.knobs["ahead"] = 1;
    c.knobs["method"] = move_stream;
    EXPECT_FALSE(ragged.check(c));
    c.knobs["method"] = move_matrix;
    EXPECT_TRUE(ragged.check(c));
}

TEST(MoveTileSpace, WhatABlockFetches) {
    struct Row {
        int64_t ahead, lanes, block_written, block_read;  // rows of 8
        int64_t rows, row_stride, run;
    };
    // 20 channels of 35 pixels, NCHW -> NHWC.
    constexpr Row table[] = {
        {1, 4, 2, 2, 8, 35, 16},  // of 8 channels, 16 pixels
        {2, 4, 2, 2, 16, 20, 8},  // of 16 pixels, 8 channels
        {2, 4, 8, 1, 8, 20, 20},  // no more than there is: one run
        {1, 4, 1, 8, 4, 35, 35},
    };
    const Movement m = movement_of("layout_transform/input:1x5x7x20/from_layout:NCHW/to_layout:NHWC");
    for (const Row &row : table) {
        const FetchedSide side = fetched_side(m, {{"ahead", row.ahead},
                                                  {"rows", 8},
                                                  {"lanes", row.lanes},
                                                  {"block_written", row.block_written},
                                                  {"block_read", row.block_read}});
        EXPECT_EQ(side.is_operand, row.ahead == 1);
        EXPECT_EQ(side.block, (std::vector<int64_t>{8 * row.block_read, row.lanes * row.block_written}));
        EXPECT_EQ(side.rows, row.rows);
        EXPECT_EQ(side.row_stride, row.row_stride);
        EXPECT_EQ(side.run, row.run);
    }
}

TEST(MoveTileSpace, EveryTargetHasOneAndRefusesWhatDoesNotFit) {
    Rng rng(1);
    for (const char *name : {"baseline", "avx2", "avx512", "arm-32-linux-no_neon"}) {
        for (const char *key : {"layout_transform/input:1x9x9x64/dtype:i8/from_layout:NCHW/to_layout:NHWC",
                                "layout_transform/input:1x9x9x20/from_layout:NCHW16c/to_layout:NCHW12c",
                                "space_to_depth/input:1x32x32x3/block:2x2"}) {
            const Target target = *parse_target(name, 2, avx512);
            EXPECT_TRUE(move_tile_space({}, movement_of(key), target, {}).sample(rng)) << name << " " << key;
        }
    }
    struct Row {
        const char *knob;
        int64_t value;
        const char *reason;
    };
    constexpr Row rows[] = {
        {"method", move_shuffle, "cannot be 2"},
        {"rows", 32, "larger than the tensor"},
        {"lanes", 32, "cannot be 32"},
        {"block_read", 3, "cannot be 3"},
        {"method", move_rows, "shuffled tiles are 1 or 2"},
        {"ahead", 3, "cannot be 3"},
    };
    const Target target = *parse_target("arm-64-linux", 1, avx512);
    const Space space = move_tile_space(
        {}, movement_of("layout_transform/input:1x3x9x128/from_layout:NCHW/to_layout:NHWC"), target, {});
    for (const Row &row : rows) {
        Candidate c = space.default_candidate();
        c.knobs[row.knob] = row.value;
        const Status status = space.check(c);
        ASSERT_FALSE(status) << row.knob;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
}

}  // namespace
}  // namespace kiln
