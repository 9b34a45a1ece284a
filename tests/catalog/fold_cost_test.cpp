#include "catalog/fold_cost.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"

namespace kiln {
namespace {

// Zeros that fill the kernel up to whole blocks are counted, and what the estimate decides is the default.
TEST(FoldCost, CountsAndDecides) {
    struct Row {
        const char *key;
        int64_t direct_products, folded_products;
        bool pays;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", 147, 192, false},
        {"conv2d/input:1x224x224x3/kernel:3x3x3x32/strides:2x2/padding:1,1x1,1", 27, 48, false},
        {"conv2d/input:1x224x224x3/kernel:16x16x3x768/strides:16x16", 768, 768, false},
        {"conv3d/input:1x16x112x112x3/kernel:7x7x7x3x64/strides:2x2x2/padding:3,3x3,3x3,3", 1029, 1536, false},
        {"conv2d/input:1x186x186x7/kernel:8x11x7x128/strides:2x2/input_layout:NCHW", 616, 672, true},
    };
    const Target target = *parse_target("avx512", 1, "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41");
    for (const Row &row : rows) {
        const Workload w = *parse_workload_key(row.key);
        const FoldCost cost = fold_cost(w, target, Core());
        EXPECT_EQ(cost.direct_products, row.direct_products) << row.key;
        EXPECT_EQ(cost.folded_products, row.folded_products) << row.key;
        EXPECT_GT(cost.transform_cycles, 0) << row.key;
        EXPECT_NE(cost.explanation().find(std::to_string(row.folded_products) + " (direct "), std::string::npos);
        const std::string chosen = default_candidate(w, target, Core(), default_error_budget)->algorithm;
        EXPECT_EQ(cost.pays(), row.pays) << row.key << " " << cost.explanation();
        EXPECT_EQ(chosen == "space_to_depth_fused", row.pays) << row.key << " " << cost.explanation();
    }
}

}  // namespace
}  // namespace kiln
