#include "rewrites/fold.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

Workload workload_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return *w;
}

using Three = std::array<int64_t, 3>;

TEST(Fold, Extents) {
    struct Row {
        const char *key;
        Blocks blocks;
        int64_t channels;
        Three input, kernel, stride, pad_lo;
    };
    constexpr Row rows[] = {
        // The seed's example: [7, 7, 3, 64] -> [4, 4, 12, 64].
        {"conv2d/input:1x230x230x3/kernel:7x7x3x64/strides:2x2",
         {2, 2, 1},
         12,
         {115, 115, 1},
         {4, 4, 1},
         {1, 1, 1},
         {0, 0, 0}},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3",
         {2, 2, 1},
         12,
         {112, 112, 1},
         {4, 4, 1},
         {1, 1, 1},
         {2, 2, 0}},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:2,3x3,2",
         {2, 1, 1},
         6,
         {112, 224, 1},
         {4, 7, 1},
         {1, 2, 1},
         {2, 2, 0}},
        {"conv2d/input:1x43x39x3/kernel:11x11x3x16/strides:4x4/padding:2,2x-2,2",
         {2, 4, 1},
         24,
         {20, 11, 1},
         {6, 4, 1},
         {2, 1, 1},
         {-1, 1, 0}},
        {"conv2d/input:1x224x224x3/kernel:16x16x3x8/strides:16x16",
         {16, 16, 1},
         768,
         {14, 14, 1},
         {1, 1, 1},
         {1, 1, 1},
         {0, 0, 0}},
        {"conv3d/input:1x9x8x10x3/kernel:3x3x3x3x6/strides:2x2x2/padding:1,1x1,0x0,1",
         {2, 2, 2},
         24,
         {5, 4, 5},
         {2, 2, 2},
         {1, 1, 1},
         {0, 1, 1}},
        {"conv1d/input:2x61x3/kernel:9x3x8/strides:4/padding:4,4",
         {4, 1, 1},
         12,
         {16, 1, 1},
         {3, 1, 1},
         {1, 1, 1},
         {1, 0, 0}},
    };
    for (const Row &row : rows) {
        const ConvLoops whole = conv_loops(workload_of(row.key));
        const ConvLoops s = folded(whole, row.blocks), p = prepared(whole, row.blocks);
        EXPECT_EQ(s.input_channels, row.channels) << row.key;
        EXPECT_EQ(s.input, row.input) << row.key;
        EXPECT_EQ(s.kernel, row.kernel) << row.key;
        EXPECT_EQ(s.stride, row.stride) << row.key;
        EXPECT_EQ(s.pad_lo, row.pad_lo) << row.key;
        EXPECT_EQ(s.output, whole.output) << row.key;
        EXPECT_TRUE(s.folds());
        for (int d = 0; d < 3; d++) {
            EXPECT_EQ(s.reach(s.output[d], d), s.pad_lo[d] + s.input[d] + s.pad_hi[d]) << row.key;
            EXPECT_FALSE(p.reads_outside(d)) << row.key;
        }
        EXPECT_FALSE(p.folds());
    }
}

TEST(Fold, RefusesWithTheReason) {
    struct Row {
        const char *key, *reason;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x8x8x3/kernel:3x3x3x4", "stride 1"},
        {"conv2d/input:1x1x1x3/kernel:1x1x3x4/strides:2x2", "larger than the input"},
        {"conv2d/input:1x2x8x3/kernel:1x1x3x4/strides:3x1", "larger than the input"},
        {"conv2d/input:1x8x8x4/kernel:3x3x2x4/strides:2x2/feature_group_count:2", "groups"},
        {"conv2d/input:2x8x8x4/kernel:3x3x4x4/strides:2x2/batch_group_count:2", "groups"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x4/strides:2x2/lhs_dilation:2x1", "lhs_dilation"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x4/strides:2x2/rhs_dilation:1x2", "rhs_dilation"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x4/strides:2x2/special_values:exact", "special_values exact"},
    };
    for (const Row &row : rows) {
        const Workload w = workload_of(row.key);
        const Status status = folds(w, conv_loops(w));
        ASSERT_FALSE(status) << row.key;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
}

}  // namespace
}  // namespace kiln
