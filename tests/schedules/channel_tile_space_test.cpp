#include "schedules/spaces/depthwise/channel_tile_space.h"

#include <gtest/gtest.h>

#include <string>

#include "rewrites/conv_loops.h"

namespace kiln {
namespace {

constexpr const char *skylake = "x86-64-linux-avx512_skylake", *avx2 = "x86-64-linux-avx2-fma",
                     *scalar = "x86-64-linux";

Space space_of(const std::string &key, const char *target, int threads) {
    return channel_tile_space({}, conv_loops(*parse_workload_key(key)), *parse_target(target, threads, target), Core());
}

// Whole rows where they are short; with 32 registers two of them without strides, with 16 even shares of one.
TEST(ChannelTileSpace, HasADefaultForEveryShape) {
    const struct {
        const char *key, *target, *knobs;
    } rows[] = {
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480", skylake,
         "pixels:7/rows:1"},
        {"conv2d/input:1x7x7x960/kernel:5x5x1x960/strides:2x2/padding:2,2x2,2/feature_group_count:960", skylake,
         "pixels:4/rows:1"},
        {"conv2d/input:1x7x7x960/kernel:5x5x1x960/padding:2,2x2,2/feature_group_count:960", skylake, "pixels:7/rows:2"},
        {"conv2d/input:1x14x14x48/kernel:3x3x1x48/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:48", skylake,
         "rows:1"},
        {"conv2d/input:1x14x14x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48", avx2, "pixels:7/rows:1"},
        {"conv2d/input:1x17x17x48/kernel:5x5x1x48/padding:2,2x2,2/feature_group_count:48", avx2, "pixels:6/rows:1"},
        {"conv2d/input:1x56x56x48/kernel:5x5x1x48/padding:2,2x2,2/feature_group_count:48", avx2, "pixels:8/rows:1"},
        {"conv2d/input:1x64x3x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48", avx2, "pixels:3/rows:2"},
        {"conv2d/input:1x7x7x96/kernel:5x5x1x96/strides:2x2/padding:2,2x2,2/feature_group_count:96", avx2,
         "pixels:4/rows:1"},
        {"conv1d/input:1x4000x48/kernel:200x1x48/feature_group_count:48", avx2, "pixels:5/rows:1"},
        {"conv2d/input:1x2x2x3/kernel:2x2x1x3/feature_group_count:3", skylake, "rows:1"},
        {"conv2d/input:1x14x14x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48", scalar, "pixels:7/rows:1"},
    };
    for (const auto &row : rows) {
        for (const int threads : {1, 2}) {
            const Space space = space_of(row.key, row.target, threads);
            const Candidate standard = space.default_candidate();
            EXPECT_TRUE(space.check(standard)) << row.key;
            EXPECT_NE(to_text(standard).find(row.knobs), std::string::npos) << row.key << ": " << to_text(standard);
            EXPECT_EQ(standard.knobs.contains("parallel"), threads == 2) << row.key;
        }
    }
}

TEST(ChannelTileSpace, RefusesTilesThatDoNotFit) {
    const std::string key = "conv2d/input:1x28x28x64/kernel:9x9x1x64/padding:4,4x4,4/feature_group_count:64";
    const Space space = space_of(key, skylake, 1);
    Candidate c = space.default_candidate();
    c.knobs["pixels"] = 14, c.knobs["rows"] = 4;
    EXPECT_NE(space.check(c).error().message.find("vector registers"), std::string::npos);
    c.knobs["pixels"] = 7, c.knobs["rows"] = 2;
    EXPECT_NE(space.check(c).error().message.find("too much code"), std::string::npos);
}

TEST(ChannelTileSpace, KnowsHowChannelsLie) {
    const struct {
        int64_t channels, block;
        ChannelsInMemory how;
    } rows[] = {{24, 24, ChannelsInMemory::together}, {24, 1, ChannelsInMemory::apart},
                {24, 8, ChannelsInMemory::in_pieces}, {24, 16, ChannelsInMemory::together},
                {64, 32, ChannelsInMemory::together}, {24, 3, ChannelsInMemory::mixed},
                {1, 1, ChannelsInMemory::together}};
    for (const auto &row : rows) {
        const StoredActivation stored{row.channels, row.block, {4, 4, 1}, 1};
        EXPECT_EQ(channels_in_memory(stored, 16), row.how) << row.channels << " in blocks of " << row.block;
    }
}

}  // namespace
}  // namespace kiln
