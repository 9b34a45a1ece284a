#include <gtest/gtest.h>

#include <utility>

#include "schedules/spaces/movement/move_method.h"
#include "schedules/spaces/movement/move_tile_space.h"
#include "tests/schedules/movements.h"

namespace kiln {
namespace {

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
        EXPECT_EQ(c.knobs.at("method"), row.method) << row.key;
        EXPECT_EQ(c.knobs.at("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knobs.at("rows"), row.rows) << row.key;
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
        EXPECT_EQ(c.knobs.at("method"), move_transpose) << row.key;
        EXPECT_EQ(c.knobs.at("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knobs.at("rows"), row.rows) << row.key;
        EXPECT_EQ(c.knobs.at("inner"), row.inner) << row.key;
        EXPECT_EQ(c.knobs.at("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knobs.at("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knobs.at("ahead"), row.ahead) << row.key;
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
        EXPECT_EQ(c.knobs.at("method"), move_rows) << key;
        EXPECT_EQ(c.knobs.at("order"), order) << key;
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
        EXPECT_EQ(c.knobs.at("method"), move_shuffle) << row.key;
        EXPECT_EQ(c.knobs.at("lanes"), row.lanes) << row.key;
        EXPECT_EQ(c.knobs.at("ahead"), row.ahead) << row.key;
        EXPECT_TRUE(space.check(c)) << row.key;
    }
    // One loop has no second.
    const Space planes = move_tile_space(
        {}, movement_of("layout_transform/input:1x99x99x3/from_layout:NHWC/to_layout:NCHW"), target, {});
    Candidate c = planes.default_candidate();
    EXPECT_EQ(c.knobs.at("ahead"), 0);
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
        EXPECT_EQ(c.knobs.at("method"), move_stream) << row.key;
        EXPECT_EQ(c.knobs.at("lanes"), 1) << row.key;
        EXPECT_EQ(c.knobs.at("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knobs.at("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knobs.at("ahead"), row.ahead) << row.key;
        EXPECT_EQ(c.knobs.at("order"), row.order) << row.key;
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
        EXPECT_EQ(c.knobs.at("method"), move_matrix) << row.key;
        EXPECT_EQ(c.knobs.at("block_read"), row.block_read) << row.key;
        EXPECT_EQ(c.knobs.at("block_written"), row.block_written) << row.key;
        EXPECT_EQ(c.knobs.at("ahead"), 0) << row.key;
        EXPECT_TRUE(space.check(c)) << row.key;
    }
}

}  // namespace
}  // namespace kiln
