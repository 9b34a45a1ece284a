// Where Strassen's products of halves apply, and where they are the default, without building any.
#include <gtest/gtest.h>

#include <string>

#include "catalog/catalog.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

TEST(Strassen, AppliesOrSaysWhyNot) {
    constexpr struct {
        const char *key, *target;
        const char *reason;  // nothing: applies
    } rows[] = {
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64", "avx512", nullptr},
        {"conv2d/input:1x8x8x32/kernel:1x1x32x32", "avx512", nullptr},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/strides:2x2", "avx2", nullptr},
        {"conv1d/input:2x8x64/kernel:1x64x64/dtype:bf16", "avx2", nullptr},
        {"conv2d/input:1x8x8x31/kernel:1x1x31x64", "avx512", "channels of two vectors"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x31", "avx512", "channels of two vectors"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64", "arm-32-linux-no_neon", "channels of two vectors"},
        {"conv2d/input:1x8x8x64/kernel:3x3x64x64", "avx512", "a kernel of one tap"},
        {"conv2d/input:1x8x8x64/kernel:1x1x32x64/feature_group_count:2", "avx512", "one group"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/lhs_dilation:2x1", "avx512", "no lhs_dilation"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/padding:0,1x0,0", "avx512", "padding"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/padding:-1,0x0,-1", "avx512", nullptr},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/input_layout:NCHW", "avx512", "NHWC"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/output_layout:NCHW16c", "avx512", "NHWC"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/special_values:exact", "avx512", "special_values exact"},
        {"conv2d/input:1x8x8x64/kernel:1x1x64x64/dtype:i8/output_dtype:i32", "avx512", "dtype i8"},
        {"conv2d_backprop_input/input:1x8x8x64/kernel:1x1x64x64", "avx512", "operation"},
        {"conv1d/input:1x8x30000/kernel:1x30000x45000", "avx512", "packed weights have more than 2^31"},
    };
    for (const auto &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const Target target = *parse_target(row.target, 1, "");
        const Status status = find_algorithm("strassen")->applies(*workload, target);
        EXPECT_EQ(status.ok(), row.reason == nullptr) << row.key << ": " << (status ? "" : status.error().message);
        if (!status && row.reason) {
            EXPECT_NE(status.error().message.find(row.reason), std::string::npos)
                << row.key << ": " << status.error().message;
        }
        if (status.ok()) {
            const Space space = find_algorithm("strassen")->space(*workload, target, core_of(Machine(), target));
            EXPECT_TRUE(space.check(space.default_candidate())) << row.key;
        }
    }
}

// Many channels on both sides pay for the additions, on the CPUs on which that was measured; and an error budget below the default keeps
// direct sums.
TEST(Strassen, IsTheDefaultOfManyChannels) {
    constexpr const char *zen2_cpu = "AuthenticAMD-23-49-0";
    constexpr struct {
        const char *key, *target;
        double error_budget;
        const char *algorithm;
        const char *cpu = "";
    } rows[] = {
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024/epilogue:bias,add,relu", zen5_target, 1e-5, "strassen"},
        {"conv2d/input:1x14x14x1024/kernel:1x1x1024x256/epilogue:bias,relu", zen5_target, 1e-5, "strassen"},
        {"conv2d/input:1x28x28x512/kernel:1x1x512x1024/strides:2x2/epilogue:bias", zen5_target, 1e-5, "strassen"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024/epilogue:bias,add,relu", zen5_target, 1e-6, "direct"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024/epilogue:bias,add,relu", zen4_target, 1e-5, "direct"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024/epilogue:bias,add,relu", "avx2", 1e-5, "direct"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024/epilogue:bias,add,relu", "avx2", 1e-5, "strassen", zen2_cpu},
        {"conv2d/input:1x17x17x768/kernel:1x1x768x192/epilogue:bias,relu", "avx2", 1e-5, "direct", zen2_cpu},
        {"conv2d/input:1x14x14x1024/kernel:1x1x1024x512/epilogue:bias,relu", "avx2", 1e-5, "strassen", zen2_cpu},
        {"conv2d/input:1x14x14x1024/kernel:1x1x1024x256/epilogue:bias,relu", "avx2", 1e-5, "strassen", zen2_cpu},
        {"conv2d/input:1x56x56x256/kernel:1x1x256x64/epilogue:bias,relu", zen5_target, 1e-5, "direct"},  // few outputs
        {"conv2d/input:1x56x56x64/kernel:1x1x64x256/epilogue:bias,relu", zen5_target, 1e-5, "direct"},   // short sums
        {"conv1d/input:1x1x2048/kernel:1x2048x1000/epilogue:bias", zen5_target, 1e-5, "direct"},   // one pixel of two
        {"conv2d/input:1x6x6x384/kernel:1x1x384x384/epilogue:bias", zen5_target, 1e-5, "direct"},  // few pixels
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        Machine machine;
        machine.cpu_id = row.cpu, machine.l1_bytes = 48 << 10, machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
        const auto standard =
            default_candidate(*parse_workload_key(row.key), target, core_of(machine, target), row.error_budget);
        ASSERT_TRUE(standard) << row.key;
        EXPECT_EQ(standard->algorithm, row.algorithm) << row.key << " " << row.target << " " << row.error_budget;
    }
}

}  // namespace
}  // namespace kiln
