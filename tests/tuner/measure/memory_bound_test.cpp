#include "tuner/measure/memory_bound.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

Workload layer(const char *key) { return *parse_workload_key(key); }

TEST(MemoryBound, IsWhatDoesNotFitIntoTheCoresOwnCaches) {
    Machine machine;
    machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    const int64_t large = 4 * (128 * 128 * 144 + 5 * 5 * 144 + 64 * 64 * 144);
    const struct {
        const char *workload;
        int64_t l3_bytes;
        int threads;
        int64_t bytes, walked;
    } table[] = {
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64", 32 << 20, 1, 4 * (14 * 14 * 64 + 9 * 64 * 64 + 12 * 12 * 64), 0},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144", 32 << 20, 1,
         large, large},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144", 8 << 20, 1,
         large, 4 << 20},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144", 0, 1, large,
         2 << 20},
        {"conv2d/input:1x128x128x144/kernel:5x5x1x144/strides:2x2/padding:1,2x1,2/feature_group_count:144", 32 << 20,
         16, large, 0},
    };
    for (const auto &row : table) {
        machine.l3_bytes = row.l3_bytes;
        EXPECT_EQ(working_set_bytes(layer(row.workload)), row.bytes) << row.workload;
        EXPECT_EQ(sentinel_bytes(layer(row.workload), machine, row.threads), row.walked) << row.workload;
    }
}

TEST(MemoryBound, CountsWhatEachElementTakes) {
    const Workload f32 = layer("conv2d/input:1x64x64x64/kernel:1x1x64x64");
    Workload i8 = f32;
    i8.dtype = DType::i8, i8.output_dtype = DType::i32;
    EXPECT_EQ(working_set_bytes(f32), 4 * (2 * 64 * 64 * 64 + 64 * 64));
    EXPECT_EQ(working_set_bytes(i8), 64 * 64 * 64 + 64 * 64 + 4 * 64 * 64 * 64 + 4);  // and a zero point
}

}  // namespace
}  // namespace kiln
