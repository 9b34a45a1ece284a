#include "workload/movement_composition.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(MovementComposition, OnePass) {
    struct Row {
        const char *first, *second, *both;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW",
         "layout_transform/input:2x5x7x20/from_layout:NCHW/to_layout:NCHW16c",
         "layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW16c"},
        {"layout_transform/kernel:3x3x8x20/dtype:bf16/from_layout:OIHW/to_layout:HWIO",
         "layout_transform/kernel:3x3x8x20/dtype:bf16/from_layout:HWIO/to_layout:OIHW",
         "layout_transform/kernel:3x3x8x20/dtype:bf16/from_layout:OIHW/to_layout:OIHW"},
        {"layout_transform/input:2x6x8x3/from_layout:NCHW/to_layout:NHWC", "space_to_depth/input:2x6x8x3/block:2x4",
         "space_to_depth/input:2x6x8x3/input_layout:NCHW/block:2x4"},
        {"space_to_depth/input:2x5x8x3/block:2x4", "layout_transform/input:2x3x2x24/from_layout:NHWC/to_layout:NCHW8c",
         "space_to_depth/input:2x5x8x3/output_layout:NCHW8c/block:2x4"},
        {"depth_to_space/input:1x3x2x24/block:2x4", "layout_transform/input:1x6x8x3/from_layout:NHWC/to_layout:NCHW",
         "depth_to_space/input:1x3x2x24/output_layout:NCHW/block:2x4"},
        {"space_to_depth/input:2x6x8x3/block:2x4", "depth_to_space/input:2x3x2x24/output_layout:NCHW/block:2x4",
         "layout_transform/input:2x6x8x3/from_layout:NHWC/to_layout:NCHW"},
        {"depth_to_space/input:2x3x2x24/block:2x4", "space_to_depth/input:2x6x8x3/block:2x4",
         "layout_transform/input:2x3x2x24/from_layout:NHWC/to_layout:NHWC"},
        {"space_to_depth/input:2x24x3/block:2", "space_to_depth/input:2x12x6/block:3",
         "space_to_depth/input:2x24x3/block:6"},
        {"space_to_depth/input:2x6x8x3/block:1x4", "space_to_depth/input:2x6x2x12/block:2x1",
         "space_to_depth/input:2x6x8x3/block:2x4"},
        {"depth_to_space/input:2x3x2x24/block:2x1", "depth_to_space/input:2x6x2x12/block:1x4",
         "depth_to_space/input:2x3x2x24/block:2x4"},
    };
    for (const Row &row : rows) {
        const auto first = parse_workload_key(row.first), second = parse_workload_key(row.second);
        ASSERT_TRUE(first) << first.error().message;
        ASSERT_TRUE(second) << second.error().message;
        const auto both = composed(*first, *second);
        ASSERT_TRUE(both) << both.error().message;
        EXPECT_EQ(key(*both), row.both);
        EXPECT_TRUE(parse_workload_key(row.both)) << row.both;
    }
}

TEST(MovementComposition, RefusesWithTheReason) {
    struct Row {
        const char *first, *second, *reason;
    };
    constexpr Row rows[] = {
        {"layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW",
         "layout_transform/input:2x5x7x20/from_layout:NHWC/to_layout:NCHW",
         "reads f32 2x5x7x20 in NHWC, but layout_transform before it writes f32 2x5x7x20 in NCHW"},
        {"space_to_depth/input:1x4x4x3/block:2x2", "space_to_depth/input:1x4x4x3/block:2x2", "writes f32 1x2x2x12"},
        {"layout_transform/input:1x4x4x3/dtype:i8/from_layout:NCHW/to_layout:NHWC",
         "space_to_depth/input:1x4x4x3/dtype:f16/block:2x2", "reads f16 1x4x4x3"},
        {"space_to_depth/input:1x8x8x3/block:2x2", "space_to_depth/input:1x4x4x12/block:2x2", "another order"},
        {"space_to_depth/input:1x8x8x3/block:2x1", "space_to_depth/input:1x4x8x6/block:1x2", "another order"},
        {"space_to_depth/input:1x7x8x3/block:2x2", "depth_to_space/input:1x4x4x12/block:2x2", "do not divide"},
        {"space_to_depth/input:1x8x8x3/block:2x2", "depth_to_space/input:1x4x4x12/block:1x2", "of other blocks"},
        {"space_to_depth/input:1x8x8x3/block:2x2", "layout_transform/input:1x4x4x12/from_layout:NHWC/to_layout:CHWN",
         "space_to_depth has no layout CHWN"},
    };
    for (const Row &row : rows) {
        const auto first = parse_workload_key(row.first), second = parse_workload_key(row.second);
        ASSERT_TRUE(first && second) << row.first << " " << row.second;
        const auto both = composed(*first, *second);
        ASSERT_FALSE(both) << key(*both);
        EXPECT_NE(both.error().message.find(row.reason), std::string::npos) << both.error().message;
    }
}

}  // namespace
}  // namespace kiln
