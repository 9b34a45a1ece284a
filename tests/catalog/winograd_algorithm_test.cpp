// Where Winograd applies and which candidates it offers, without building any.
#include <gtest/gtest.h>

#include <string>

#include "catalog/catalog.h"
#include "schedules/spaces/winograd/winograd_knobs.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

const Algorithm &winograd(int m) { return *find_algorithm("winograd_" + std::to_string(m)); }

TEST(WinogradAlgorithm, InIntegersAppliesOrSaysWhyNot) {
    struct Row {
        const char *key;
        int m;
        const char *reason;  // nothing: applies
        const char *target = "avx2";
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:i8/output_dtype:i32", 2, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:u8/output_dtype:i32", 3, nullptr, "baseline"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8", 2, "dtype f32 is not quantized"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:i8/output_dtype:i32", 2, "a core without vectors", "rv32im"},
        {"conv2d/input:1x8x8x4/kernel:1x1x4x8/dtype:i8/output_dtype:i32", 2, "1x1"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:i8/output_dtype:i32/kernel_zero_point:true", 2,
         "kernel_zero_point is not supported by Winograd in integers"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:1x2/dtype:i8/output_dtype:i32", 2, nullptr},
        {"conv2d/input:1x18x18x4/kernel:7x7x4x8/strides:2x2/dtype:i8/output_dtype:i32", 2,
         nullptr},  // 4x4 taps of blocks
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:3x3/dtype:i8/output_dtype:i32", 2, "1x1"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/lhs_dilation:2x1/dtype:i8/output_dtype:i32", 2, "lhs_dilation"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/rhs_dilation:2x1/dtype:i8/output_dtype:i32", 2, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x2x8/feature_group_count:2/dtype:i8/output_dtype:i32", 2,
         "feature_group_count"},
        // 36 times an input by a weight of 8 bits for each channel, and 324 times
        {"conv2d/input:1x8x8x1827/kernel:3x3x1827x8/dtype:i8/output_dtype:i32", 2, nullptr},
        {"conv2d/input:1x8x8x1828/kernel:3x3x1828x8/dtype:i8/output_dtype:i32", 2, "could leave 32 bits"},
        {"conv2d/input:1x8x8x203/kernel:3x3x203x8/dtype:i8/output_dtype:i32", 3, nullptr},
        {"conv2d/input:1x8x8x204/kernel:3x3x204x8/dtype:i8/output_dtype:i32", 3, "could leave 32 bits"},
        {"conv2d/input:1x8x8x203/kernel:3x3x203x8/dtype:i8/output_dtype:i32/kernel_dtype:u8", 3, "could leave 32 bits"},
        {"conv2d/input:1x8x8x4/kernel:5x5x4x8/dtype:i8/output_dtype:i32", 2, "would leave 16 bits"},
        {"conv2d/input:1x8x8x4/kernel:5x1x4x8/dtype:i8/output_dtype:i32", 2, nullptr},
        {"conv2d/input:1x8x8x4/kernel:6x6x4x8/dtype:i8/output_dtype:i32", 2, "above 6 need points that are fractions"},
        {"conv2d/input:1x64x64x16/kernel:3x3x16x4096/padding:1000,1000x1000,1000/rhs_dilation:1000x1000/dtype:i8/"
         "output_dtype:i32",
         2, "the sums of all phases have more than 2^31 elements"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Status status = find_algorithm("quantized_winograd_" + std::to_string(row.m))
                                  ->applies(*workload, *parse_target(row.target, 1, avx512));
        EXPECT_EQ(bool(status), row.reason == nullptr) << row.key << " " << row.m;
        if (!status && row.reason) {
            const std::string &why = status.error().message;
            EXPECT_NE(why.find(row.reason), std::string::npos) << row.key << ": " << why;
        }
    }
}

TEST(WinogradAlgorithm, AppliesOrSaysWhyNot) {
    struct Row {
        const char *key;
        int m;
        const char *reason;  // nothing: applies
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8", 2, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8", 6, nullptr},
        {"conv2d/input:1x8x8x4/kernel:5x5x4x8", 6, nullptr},
        {"conv2d/input:1x8x8x4/kernel:1x7x4x8", 4, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x1x4x8/dtype:f16/output_dtype:bf16", 4, nullptr},
        {"conv1d/input:1x8x4/kernel:3x4x8", 4, nullptr},
        {"conv3d/input:1x3x8x8x4/kernel:1x3x3x4x8", 4, nullptr},
        {"conv3d/input:1x3x8x8x4/kernel:3x3x3x4x8", 4, "depth 1"},
        {"conv3d/input:1x4x20x20x16/kernel:2x3x3x16x16/strides:2x2x2", 4, "depth 1"},  // one tap there, of a fold
        {"conv3d/input:1x3x8x8x4/kernel:1x3x3x4x8/strides:2x1x1", 4, nullptr},
        {"conv2d/input:1x8x8x4/kernel:1x1x4x8", 4, "1x1"},
        {"conv2d/input:1x18x18x4/kernel:7x7x4x8", 5, "too large"},
        {"conv2d/input:1x18x18x4/kernel:3x9x4x8", 2, "too large"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:1x2", 4, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:2x2", 2, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:2x2", 6, nullptr},
        {"conv2d/input:1x18x18x4/kernel:7x7x4x8/strides:2x2", 6, nullptr},  // 4x4 taps of blocks
        {"conv2d/input:1x18x18x4/kernel:3x9x4x8/strides:1x2", 5, nullptr},
        {"conv2d/input:1x18x18x4/kernel:11x11x4x8/strides:2x2", 6, "too large"},
        {"conv2d/input:1x18x18x4/kernel:5x5x4x8/strides:3x3", 4, nullptr},
        {"conv2d/input:1x18x18x4/kernel:3x3x4x8/strides:3x3", 4, "1x1"},
        {"conv2d/input:1x18x18x4/kernel:3x3x4x8/strides:3x1", 4, nullptr},
        {"conv2d/input:1x18x18x4/kernel:3x5x4x8/strides:3x4", 4, nullptr},  // 4 m + 1 products for 5 m
        {"conv2d/input:1x18x18x4/kernel:1x3x4x8/strides:2x2", 4, nullptr},
        {"conv2d/input:1x18x18x4/kernel:3x3x4x8/strides:4x1", 4, "beyond the kernel"},
        {"conv2d/input:1x1x1x4/kernel:3x3x4x8/strides:2147483647x2/padding:1,1x1,1", 4, "beyond the kernel"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/strides:2x2/padding:3,0x0,0", 4, "padding"},
        {"conv2d/input:1x8x8x4096/kernel:3x3x4096x4096/strides:2x2", 4, nullptr},
        {"conv2d/input:1x8x8x5000/kernel:3x3x5000x5000/strides:2x2", 4, "2^31"},
        {"conv2d/input:1x8x8x64/kernel:3x3x32x32/strides:2x2/feature_group_count:2", 4, "strides"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/lhs_dilation:2x1", 4, "lhs_dilation"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/rhs_dilation:1x2", 4, nullptr},
        {"conv2d/input:1x12x12x4/kernel:3x3x4x8/strides:2x2/rhs_dilation:2x4", 4, nullptr},
        {"conv2d/input:1x12x12x4/kernel:3x3x4x8/strides:2x2/rhs_dilation:2x3", 4, nullptr},
        {"conv2d/input:1x2x2x4/kernel:2x2x4x8/padding:2,2x2,2/rhs_dilation:4x4", 4, "padding"},
        {"conv2d/input:1x8x8x64/kernel:3x3x32x32/feature_group_count:2", 4, nullptr},
        {"conv2d/input:1x8x8x16/kernel:3x3x8x32/feature_group_count:2", 4, nullptr},  // half of a vector
        {"conv2d/input:1x8x8x64/kernel:3x3x32x32/rhs_dilation:2x2/feature_group_count:2", 4, nullptr},
        {"conv2d_backprop_input/input:1x8x8x32/kernel:3x3x16x64/feature_group_count:2", 4, nullptr},
        {"conv2d/input:1x8x8x4/kernel:3x3x2x8/feature_group_count:2", 4, "groups of 2 inputs and 4 outputs"},
        {"conv2d/input:1x8x8x64/kernel:3x3x32x48/feature_group_count:2", 4, "groups of 32 inputs and 24 outputs"},
        {"conv2d/input:1x8x8x80/kernel:3x3x40x32/feature_group_count:2", 4, "which vectors do not divide"},
        {"conv2d/input:1x8x8x8/kernel:3x3x4x32/feature_group_count:2", 4, "half of one with inputs"},
        {"conv2d/input:2x8x8x4/kernel:3x3x4x8/batch_group_count:2", 4, "batch_group_count"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/padding:3,0x0,0", 4, "padding"},
        {"conv2d/input:2x1x32x16/kernel:1x3x16x16/padding:1,1x1,1", 4, nullptr},  // rows of zeros, tiles of zeros
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/special_values:exact", 4, "NaN"},
        {"conv2d/input:1x8x8x4/kernel:3x3x4x8/dtype:i8/output_dtype:i32", 4, "i8"},
        {"conv2d/input:1x2x2x4/kernel:3x3x4x8", 4, "empty"},
        {"conv2d/input:1x8x8x8192/kernel:3x3x8192x8192", 4, "2^31"},
        {"conv2d/input:1x8x8x4096/kernel:3x3x4096x4096", 4, nullptr},
        // Phases of a large dilation: their sums lie in memory before they become pixels.
        {"conv2d/input:1x64x64x16/kernel:3x3x16x4096/padding:1000,1000x1000,1000/rhs_dilation:1000x1000", 4,
         "the sums of all phases have more than 2^31 elements"},
        {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8", 4, nullptr},
        {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8/strides:1x2", 4, "strides"},
        {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8/lhs_dilation:1x2", 4, nullptr},
        {"conv2d_backprop_input/input:1x8x8x4/kernel:3x3x4x8/padding:-1,0x0,0", 4, "padding"},
        {"conv2d_backprop_kernel/input:1x8x8x4/kernel:3x3x4x8", 4, "conv2d_backprop_kernel"},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Status applies = winograd(row.m).applies(*workload, target);
        EXPECT_EQ(applies.ok(), row.reason == nullptr) << row.key;
        if (!applies && row.reason) {
            EXPECT_NE(applies.error().message.find(row.reason), std::string::npos)
                << row.key << ": " << applies.error().message;
        }
    }
}

// The template's own promise: whatever the shape and the target, the default and draws are valid, and threads
// are used where there are some.
TEST(WinogradAlgorithm, SpacesForEveryTarget) {
    Rng rng(test_seed());
    auto draw = [&](int64_t lo, int64_t hi) { return lo + static_cast<int64_t>(rng() % (hi - lo + 1)); };
    Core core;
    core.l3_bytes = 32 << 20;
    for (int i = 0; i < 40; i++) {
        const int64_t side = draw(5, 120), channels = draw(1, 300);
        const Workload w =
            convolution({draw(1, 3), side, draw(5, 120), channels}, {3, draw(1, 2) * 2 - 1, channels, draw(1, 300)});
        for (const char *name : {"baseline", "avx2", "avx512", "arm-32-linux-no_neon"}) {
            const Target target = *parse_target(name, static_cast<int>(draw(1, 4)), avx512);
            const int m = static_cast<int>(draw(2, 6));
            ASSERT_TRUE(winograd(m).applies(w, target)) << key(w);
            const Space space = winograd(m).space(w, target, core);
            EXPECT_TRUE(space.check(space.default_candidate())) << key(w) << " " << name;
            EXPECT_TRUE(space.sample(rng)) << key(w) << " " << name;
            EXPECT_EQ(decode_knobs<WinogradKnobs>(space.default_candidate().knobs)->parallel > 0, target.threads > 1);
        }
    }
}

}  // namespace
}  // namespace kiln
