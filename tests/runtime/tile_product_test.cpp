// The inner loop for every kind of CPU that this one can run, against plain loops.
#include "runtime/fallback/tile_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "runtime/cpu_features.h"

namespace kiln {
namespace {

uint64_t features_up_to(const char *last) {
    uint64_t bits = 0;
    for (const CpuFeature &feature : cpu_features) {
        bits |= feature.bit;
        if (std::string(feature.name) == last) break;
    }
    return bits & read_cpu_features();
}

TEST(TileProduct, AddsProductsForEveryCpu) {
    for (const uint64_t features : {uint64_t(0), features_up_to("avx"), features_up_to("avx2"), ~uint64_t(0)}) {
        const TileProduct product = tile_product(features & read_cpu_features());
        ASSERT_LE(product.rows, most_tile_rows);
        for (const int depth : {0, 1, 7, depth_block}) {
            for (int columns = product.column_steps; columns <= column_block; columns += product.column_steps) {
                std::vector<float> left(most_tile_rows * depth_block, NAN), right(depth_block * column_block, NAN);
                std::vector<const float *> rows;
                for (int s = 0; s < depth; s++) {  // in another order than in memory
                    rows.push_back(right.data() + (depth - 1 - s) * column_block);
                    for (int c = 0; c < columns; c++) right[s * column_block + c] = float((s * 7 + c * 3) % 11 - 5);
                    for (int j = 0; j < product.rows; j++) left[j * depth_block + s] = float((s * 5 + j) % 13 - 6);
                }
                std::vector<double> sums(most_tile_rows * column_block, 0.5);
                product.add(left.data(), rows.data(), depth, columns, sums.data());
                for (int j = 0; j < most_tile_rows; j++) {
                    for (int c = 0; c < column_block; c++) {
                        double expected = 0.5;
                        for (int s = 0; s < depth && j < product.rows && c < columns; s++) {
                            expected += left[j * depth_block + s] * rows[s][c];
                        }
                        ASSERT_EQ(sums[j * column_block + c], expected)
                            << product.rows << " rows, depth " << depth << ", " << columns << " columns";
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace kiln
