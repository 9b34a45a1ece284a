#include "schedules/folded_shape.h"

#include <gtest/gtest.h>

#include <set>

#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

Workload workload_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return *w;
}

using Three = std::array<int64_t, 3>;

TEST(FoldedShape, Extents) {
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
        const ConvShape whole = conv_shape(workload_of(row.key));
        const ConvShape s = folded_shape(whole, row.blocks), p = prepared_shape(whole, row.blocks);
        EXPECT_EQ(s.input_channels, row.channels) << row.key;
        EXPECT_EQ(s.input, row.input) << row.key;
        EXPECT_EQ(s.kernel, row.kernel) << row.key;
        EXPECT_EQ(s.stride, row.stride) << row.key;
        EXPECT_EQ(s.pad_lo, row.pad_lo) << row.key;
        EXPECT_EQ(s.output, whole.output) << row.key;
        EXPECT_TRUE(s.folded);
        for (int d = 0; d < 3; d++) {
            EXPECT_EQ(s.reach(s.output[d], d), s.pad_lo[d] + s.input[d] + s.pad_hi[d]) << row.key;
            EXPECT_FALSE(p.reads_outside(d)) << row.key;
        }
        EXPECT_FALSE(p.folded);
    }
}

TEST(FoldedShape, RefusesWithTheReason) {
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
        const Status status = folds(w, conv_shape(w));
        ASSERT_FALSE(status) << row.key;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
}

TEST(FoldedShape, BlocksOfCandidates) {
    struct Row {
        int64_t block_w, block_h;
        const char *reason;  // none: valid
    };
    constexpr Row rows[] = {
        {4, 2, nullptr},
        {3, 2, "block_w` cannot be 3 here: a block has to divide the stride, 4"},
        {8, 2, "divide the stride, 4"},
        {4, 4, "block_h` cannot be 4 here: a block has to divide the stride, 4, and be no larger than the input, 3"},
        {1, 1, "blocks of one pixel"},
    };
    const Workload w = workload_of("conv2d/input:1x3x40x3/kernel:3x5x3x16/strides:4x4/padding:0,0x1,1");
    const Space space = folded_space({}, conv_shape(w), false, [](const ConvShape &shape) {
        return cpu_tile_space({}, shape, *parse_target("avx512", 1, avx512), {});
    });
    EXPECT_EQ(checked_knobs<FoldKnobs>(space.default_candidate().knobs).blocks(), (Blocks{4, 2, 1}));
    for (const Row &row : rows) {
        Candidate c = space.default_candidate();
        c.knobs["block_w"] = row.block_w, c.knobs["block_h"] = row.block_h;
        const Status status = space.check(c);
        ASSERT_EQ(status.ok(), row.reason == nullptr) << row.block_w << " " << row.block_h;
        if (row.reason) {
            EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
        }
    }
    Rng rng(1);
    std::set<Blocks> drawn;
    for (int i = 0; i < 100; i++) {
        const auto candidate = space.sample(rng);
        ASSERT_TRUE(candidate);
        drawn.insert(checked_knobs<FoldKnobs>(candidate->knobs).blocks());
    }
    EXPECT_EQ(drawn.size(), 5u);  // 4x2, 2x2, 1x2, 4x1, 2x1
}

}  // namespace
}  // namespace kiln
