#include "schedules/spaces/movement/move_tile_space.h"

#include <gtest/gtest.h>

#include <string>

#include "schedules/spaces/movement/move_matrix.h"
#include "schedules/spaces/movement/move_rows.h"
#include "schedules/spaces/movement/move_transpose.h"
#include "tests/schedules/movements.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

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
        if (form.rows >= 0) {
            EXPECT_EQ(form.has_whole_lines(), row.row_count != 60) << row.key;
        }
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
        {"lanes", 4, "lanes has no such value with method 3: tiles of a matrix are lines on both sides"},
        {"inner", 1, "only transposed tiles follow one digit first"},
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
        int64_t fetched, lanes, block_written, block_read;  // rows of 8
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
        const FetchedSide side = fetched_side(m, {.lanes = row.lanes,
                                                  .rows = 8,
                                                  .block_read = row.block_read,
                                                  .block_written = row.block_written,
                                                  .fetched = row.fetched});
        EXPECT_EQ(side.is_operand, row.fetched == fetches_block_of_operand);
        EXPECT_EQ(side.block, (std::vector<int64_t>{8 * row.block_read, row.lanes * row.block_written}));
        EXPECT_EQ(side.rows, row.rows);
        EXPECT_EQ(side.row_stride, row.row_stride);
        EXPECT_EQ(side.run, row.run);
    }
}

TEST(MoveTileSpace, EveryTargetHasOneAndRefusesWhatDoesNotFit) {
    Rng rng(test_seed());
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
        {"method", move_rows, "with method 0: only transposed tiles come in blocks"},
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

// Knobs that a template does not have are in its candidates, with one value.
TEST(MoveTileSpace, OtherTemplatesKnobsSayNothing) {
    struct Row {
        const char *key, *knob;
        int64_t method, value;
        const char *message;
    };
    constexpr const char *rows = "layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NHWC";
    constexpr const char *pixels = "space_to_depth/input:1x32x32x3/block:2x2";
    constexpr Row table[] = {
        {rows, "inner", move_rows, 1, "knob `inner` cannot be 1 here: only transposed tiles follow one digit first"},
        {rows, "block_read", move_rows, 2, "knob `block_read` cannot be 2 here: only transposed tiles come in blocks"},
        {rows, "ahead", move_rows, 1,
         "knob `ahead` cannot be 1 here: rows fetch only what the next turn of a second loop reads"},
        {pixels, "rows", move_rows, 2, "rows has no such value with method 0: only tiles in registers have rows"},
        {pixels, "rows", move_shuffle, 4, "knob `rows` cannot be 4 here"},
        {pixels, "ahead", move_shuffle, 1, ""},
        {pixels, "rows", move_shuffle, 2, ""},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : table) {
        const Space space = move_tile_space({}, movement_of(row.key), target, {});
        Candidate c = space.default_candidate();
        c.knobs["method"] = row.method, c.knobs["lanes"] = 4, c.knobs[row.knob] = row.value;
        const Status status = space.check(c);
        EXPECT_EQ(status ? "" : status.error().message, row.message) << row.key << " " << row.knob;
    }
}

TEST(MoveMethod, ATemplateReadsItsOwnKnobs) {
    const Knobs stored = stored_knobs(move_stream, encode_knobs(MoveMatrixKnobs{.block_read = 4, .fetched = 2}));
    EXPECT_EQ(to_text({"layout_transform", 1, move_tile_name, move_tile_version, stored}),
              "layout_transform@1/move_tile@1/ahead:2/block_read:4/block_written:1/inner:0/lanes:1/method:3/order:0/"
              "parallel:0/rows:1");
    const auto own = checked_knobs<MoveMatrixKnobs>(stored);
    EXPECT_EQ(own.block_read, 4);
    EXPECT_EQ(own.fetched, 2);
    const Knobs rows = stored_knobs(move_rows, encode_knobs(MoveRowsKnobs{.lanes = 16, .next_turn = 1}));
    EXPECT_EQ(rows.at("ahead"), 1);
    EXPECT_EQ(checked_knobs<MoveRowsKnobs>(rows).next_turn, 1);
}

}  // namespace
}  // namespace kiln
