// Untuned register tiles of targets with 16 vector registers.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

CpuTileKnobs untuned(const Workload &w, const char *name) {
    const Target target = *parse_target(name, 1, "");
    return *decode_knobs<CpuTileKnobs>(
        cpu_tile_space({}, conv_loops(w), target, core_of(Machine(), target)).default_candidate().knobs);
}

// A tile's sums, the inputs that it keeps for them and the weights beside these: four beyond the 16 registers, where the sizes of an
// image leave no better tile.
TEST(FewRegisters, DepthwiseTilesHardlySpill) {
    for (const char *name : {"avx2", "baseline"}) {
        for (const int64_t window : {3, 5, 7}) {
            for (const auto &[side, channels] : {std::pair{112, 64}, {56, 144}, {28, 120}, {14, 384}, {7, 960}}) {
                const std::string of = std::to_string(channels), pad = std::to_string(window / 2),
                                  k = std::to_string(window), image = std::to_string(side);
                const std::string key = "conv2d/input:1x" + image + "x" + image + "x" + of + "/kernel:" + k + "x" + k +
                                        "x1x" + of + "/padding:" + pad + "," + pad + "x" + pad + "," + pad +
                                        "/feature_group_count:" + of;
                const auto w = parse_workload_key(key);
                ASSERT_TRUE(w) << w.error().message;
                const CpuTileKnobs tile = untuned(*w, name);
                EXPECT_LE(tile.vectors * (tile.rows + 1) * (tile.pixels + 1), 20) << key << " " << name;
            }
        }
    }
}

// Without multiply-adds that take an operand to all lanes, tiles of one vector have few sums, and groups have more vectors.
TEST(FewRegisters, SumsOfOneVectorStayInThem) {
    const struct {
        const char *key;
        int64_t vectors;
    } rows[] = {
        {"conv2d/input:1x28x28x256/kernel:3x3x32x256/padding:1,1x1,1/feature_group_count:8", 2},
        {"conv2d/input:1x14x14x512/kernel:3x3x32x512/padding:1,1x1,1/feature_group_count:16", 2},
        {"conv2d/input:1x112x112x32/kernel:3x3x32x8/strides:2x2/padding:1,1x1,1", 1},
        {"conv2d/input:1x56x56x64/kernel:1x1x64x8", 1},
    };
    for (const auto &row : rows) {
        const CpuTileKnobs k = untuned(*parse_workload_key(row.key), "avx2");
        EXPECT_EQ(k.vectors, row.vectors) << row.key;
        EXPECT_LE(k.pixels * k.rows, k.vectors == 1 ? 9 : 12) << row.key;
    }
}

}  // namespace
}  // namespace kiln
