// Defaults of tiles that races decided (schedules/spaces/cpu_tile_races.h).
#include <gtest/gtest.h>

#include <string>

#include "schedules/spaces/cpu_tile_space.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

struct DefaultTile {
    CpuTileKnobs knobs;
    int64_t panels = 0;
};

DefaultTile default_tile(const char *key, const char *halide, const Machine &machine = machine_of_zen5()) {
    const Target target{halide, 1};
    const ConvLoops loops = conv_loops(*parse_workload_key(key));
    const Space space = cpu_tile_space({}, loops, target, core_of(machine, target));
    const CpuTileKnobs knobs = *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
    return {knobs, loops.panels(knobs.vectors * vector_lanes(target))};
}

TEST(DepthwisePanels, StayInL1WhereL2HasTheImage) {
    struct Row {
        const char *key, *target;
        int64_t panels_together, panels;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x14x14x384/kernel:3x3x1x384/padding:1,1x1,1/feature_group_count:384", zen5_target, 6, 24,
         "two rows of tiles read two rows in common"},
        {"conv2d/input:1x14x14x576/kernel:3x3x1x576/strides:2x2/padding:1,1x1,1/feature_group_count:576", zen5_target,
         2, 36, "a tile of all panels is larger than L1"},
        {"conv2d/input:1x14x14x384/kernel:3x3x1x384/padding:1,1x1,1/feature_group_count:384", zen4_target, 24, 24,
         "nobody raced there"},
        {"conv2d/input:1x28x28x192/kernel:3x3x1x192/padding:1,1x1,1/feature_group_count:192", zen5_target, 12, 12,
         "tiles of four rows stay in L1"},
        {"conv2d/input:1x56x56x144/kernel:3x3x1x144/strides:2x2/padding:1,1x1,1/feature_group_count:144", zen5_target,
         9, 9, "the image is beyond L2"},
        {"conv2d/input:1x7x7x1024/kernel:3x3x1x1024/padding:1,1x1,1/feature_group_count:1024", zen5_target, 64, 64,
         "all pixels share sets of L1"},
        {"conv2d/input:1x20x20x384/kernel:7x7x1x384/padding:3,3x3,3/feature_group_count:384", zen5_target, 24, 24,
         "many taps a pixel"},
        {"conv2d/input:1x14x14x48/kernel:3x3x1x48/padding:1,1x1,1/feature_group_count:48", zen5_target, 3, 3,
         "fewer panels than L1 has room for"},
    };
    for (const Row &row : rows) {
        const DefaultTile tile = default_tile(row.key, row.target);
        EXPECT_EQ(tile.knobs.panel_block, row.panels_together) << row.key << ": " << row.why;
        EXPECT_EQ(tile.panels, row.panels) << row.key;
    }
}

// Lines to come and products wait for each other less in short tiles.
TEST(ShortTiles, AreThoseThatFetchTheNextOne) {
    struct Row {
        const char *key;
        int64_t vectors, pixels, prefetch, pixels_elsewhere;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x128x128x96/kernel:1x1x96x24", 2, 8, 1, 13, "an image beyond L2"},
        {"conv2d/input:1x120x120x96/kernel:1x1x96x48", 3, 5, 1, 9, "three vectors"},
        {"conv2d/input:1x256x256x32/kernel:1x1x32x16", 1, 16, 1, 28, "one vector"},
        {"conv2d/input:1x56x56x144/kernel:1x1x144x24", 2, 8, 1, 14, "results drive the image out of L2"},
        {"conv2d/input:1x55x55x128/kernel:1x1x128x16", 1, 25, 0, 25, "many lines a product"},
        {"conv2d/input:1x28x28x144/kernel:1x1x144x24", 2, 14, 0, 14, "L2 has all"},
        {"conv2d/input:1x14x14x480/kernel:1x1x480x80", 5, 5, 0, 28, "one vector of five would load a number a product"},
    };
    Machine another = machine_of_emerald_rapids();
    another.cpu_id = "GenuineIntel-6-106-6";
    for (const Row &row : rows) {
        const CpuTileKnobs k = default_tile(row.key, emerald_rapids_target, machine_of_emerald_rapids()).knobs;
        EXPECT_EQ(k.vectors, row.vectors) << row.key << ": " << row.why;
        EXPECT_EQ(k.pixels, row.pixels) << row.key << ": " << row.why;
        EXPECT_EQ(k.prefetch, row.prefetch) << row.key << ": " << row.why;
        const CpuTileKnobs elsewhere = default_tile(row.key, emerald_rapids_target, another).knobs;
        EXPECT_EQ(elsewhere.pixels, row.pixels_elsewhere) << row.key << ": nobody raced an Ice Lake";
    }
}

TEST(ShortTiles, AreThoseOfStridedDepthwiseStreams) {
    const auto sums_of = [](const char *key, const Machine &machine) {
        const CpuTileKnobs k = default_tile(key, emerald_rapids_target, machine).knobs;
        return k.rows * k.pixels * k.vectors;
    };
    const char *far = "conv2d/input:1x112x112x64/kernel:3x3x1x64/strides:2x2/padding:1,1x1,1/feature_group_count:64";
    const char *near = "conv2d/input:1x30x30x192/kernel:3x3x1x192/strides:2x2/padding:1,1x1,1/feature_group_count:192";
    Machine another = machine_of_emerald_rapids();
    another.cpu_id = "GenuineIntel-6-106-6";
    EXPECT_LE(sums_of(far, machine_of_emerald_rapids()), 8);
    EXPECT_GT(sums_of(far, another), 8) << "nobody raced an Ice Lake";
    EXPECT_GT(sums_of(near, machine_of_emerald_rapids()), 8) << "L2 has the image";
}

TEST(DepthwisePanels, StayInL1OnAGoldenCoveWhereL2HasTheResultsToo) {
    struct Row {
        const char *key;
        int64_t panels_together, panels;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/padding:1,1x1,1/feature_group_count:480", 6, 30, "half of L1"},
        {"conv2d/input:1x28x28x192/kernel:3x3x1x192/padding:1,1x1,1/feature_group_count:192", 3, 12, "three at least"},
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480", 2, 30,
         "two with strides"},
        {"conv2d/input:1x56x56x144/kernel:3x3x1x144/padding:1,1x1,1/feature_group_count:144", 9, 9,
         "L2 has the image, and not the results"},
        {"conv2d/input:1x7x7x1024/kernel:3x3x1x1024/padding:1,1x1,1/feature_group_count:1024", 64, 64,
         "pixels share sets of L1"},
        {"conv2d/input:1x14x14x384/kernel:7x7x1x384/padding:3,3x3,3/feature_group_count:384", 24, 24, "49 taps"},
    };
    for (const Row &row : rows) {
        const DefaultTile tile = default_tile(row.key, emerald_rapids_target, machine_of_emerald_rapids());
        EXPECT_EQ(tile.panels, row.panels) << row.key;
        EXPECT_EQ(tile.knobs.panel_block, row.panels_together) << row.key << ": " << row.why;
    }
}

TEST(StridedRows, AreReadInPlaceByShortTiles) {
    struct Row {
        const char *key;
        int64_t rows, stage_input, stage_elsewhere;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x160x160x32/kernel:3x3x32x64/strides:2x2/padding:1,1x1,1", 4, 0, 1, "two panels"},
        {"conv2d/input:1x150x150x32/kernel:3x3x32x64/strides:2x2/padding:1,1x1,1", 3, 0, 1, "rows of an odd length"},
        {"conv2d/input:1x320x320x8/kernel:3x3x8x16/strides:2x2/padding:1,1x1,1", 4, 0, 1, "one vector"},
        {"conv2d/input:1x160x160x32/kernel:3x3x32x96/strides:2x2/padding:1,1x1,1", 4, 1, 1, "many panels"},
    };
    for (const Row &row : rows) {
        const CpuTileKnobs k = default_tile(row.key, emerald_rapids_target, machine_of_emerald_rapids()).knobs;
        EXPECT_EQ(k.rows, row.rows) << row.key;
        EXPECT_EQ(k.stage_input, row.stage_input) << row.key << ": " << row.why;
        const int64_t sums = k.rows * k.pixels * k.vectors;
        EXPECT_TRUE(k.stage_input || (sums >= 12 && sums <= 18)) << row.key << ": " << sums;
        const CpuTileKnobs elsewhere = default_tile(row.key, emerald_rapids_target, machine_of_zen5()).knobs;
        EXPECT_EQ(elsewhere.stage_input, row.stage_elsewhere) << row.key << ": nobody raced other CPUs";
    }
}

TEST(FewPlanes, AreReadWithoutACopyAsChannelsLastIs) {
    for (const char *key : {"conv2d/input:1x224x224x3/kernel:3x3x3x32/strides:2x2/padding:1,1x1,1/input_layout:NCHW",
                            "conv2d/input:1x224x224x3/kernel:3x3x3x32/padding:1,1x1,1/input_layout:NCHW"}) {
        EXPECT_EQ(default_tile(key, emerald_rapids_target).knobs.stage_input, 0) << key;
    }
    const char *many = "conv2d/input:1x224x224x12/kernel:3x3x12x32/padding:1,1x1,1/input_layout:NCHW";
    EXPECT_EQ(default_tile(many, emerald_rapids_target).knobs.stage_input, 1);
}

TEST(TilesAlongX, HaveFewPixelsWhereL1DoesNotHaveThem) {
    const std::string in_nchw = "/input_layout:NCHW/output_layout:NCHW";
    struct Row {
        const char *key, *target;
        int64_t lanes, pixels, vectors;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x28x28x192/kernel:1x1x192x64", zen5_target, 1, 2, 8, "each channel reads all pixels again"},
        {"conv2d/input:1x28x28x192/kernel:1x1x192x64", zen4_target, 1, 5, 4, "nobody raced there"},
        {"conv2d/input:1x56x56x144/kernel:1x1x144x32", zen5_target, 1, 4, 4, "lines side by side share no sets"},
        {"conv2d/input:1x14x14x512/kernel:1x1x512x512", zen5_target, 0, 14, 2, "results are few beside their sums"},
        // On a Golden Cove tiles ask for no more lines than come beside their products.
        {"conv2d/input:1x14x14x384/kernel:1x1x384x96", emerald_rapids_target, 0, 14, 2, "pixels would fill few tiles"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024", emerald_rapids_target, 1, 2, 8,
         "two vectors of pixels fill it"},
        {"conv2d/input:1x19x19x512/kernel:1x1x512x84", emerald_rapids_target, 1, 4, 6,
         "planes are no whole lines apart"},
        {"conv2d/input:1x28x28x512/kernel:1x1x512x128", emerald_rapids_target, 1, 5, 4, "five lines for twenty sums"},
        {"conv2d/input:1x20x20x480/kernel:1x1x480x112", emerald_rapids_target, 1, 5, 4, "the same"},
        {"conv2d/input:1x28x28x40/kernel:1x1x40x240", emerald_rapids_target, 1, 7, 3, "L1 has all channels' pixels"},
    };
    for (const Row &row : rows) {
        const bool is_golden_cove = row.target == emerald_rapids_target;
        const Machine machine = is_golden_cove ? machine_of_emerald_rapids() : machine_of_zen5();
        const CpuTileKnobs knobs = default_tile((row.key + in_nchw).c_str(), row.target, machine).knobs;
        EXPECT_EQ(knobs.lanes, row.lanes) << row.key << ": " << row.why;
        EXPECT_EQ(knobs.pixels, row.pixels) << row.key << ": " << row.why;
        EXPECT_EQ(knobs.vectors, row.vectors) << row.key << ": " << row.why;
    }
}

// Beyond half of L1, weights of one panel come from L2 in time on a Zen 2; several panels take turns.
TEST(FewOutputs, AreOnePanelWhoseWeightsAreStreamed) {
    struct Row {
        const char *key;
        int64_t vectors, pixels;  // on a Zen 2
        bool is_other_elsewhere;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x28x28x144/kernel:1x1x144x40", 5, 2, true},
        {"conv2d/input:1x64x64x240/kernel:1x1x240x40", 5, 2, true},
        {"conv2d/input:1x28x28x72/kernel:1x1x72x40", 5, 2, false},    // they stay in L1
        {"conv2d/input:1x14x14x384/kernel:1x1x384x96", 2, 6, false},  // several panels
        {"conv2d/input:1x28x28x64/kernel:3x3x64x40", 5, 2, false},    // several taps
    };
    Machine another = machine_of_zen2();
    another.cpu_id = "";
    for (const Row &row : rows) {
        const CpuTileKnobs zen2 =
            default_tile(row.key, "x86-64-linux-avx-avx2-f16c-fma-sse41", machine_of_zen2()).knobs;
        EXPECT_EQ(zen2.vectors, row.vectors) << row.key;
        EXPECT_EQ(zen2.pixels, row.pixels) << row.key;
        const CpuTileKnobs other = default_tile(row.key, "x86-64-linux-avx-avx2-f16c-fma-sse41", another).knobs;
        EXPECT_EQ(other.vectors != zen2.vectors, row.is_other_elsewhere) << row.key << " " << other.vectors;
    }
}

TEST(StreamedPixels, AreFewWhereL2DoesNotHaveTheImage) {
    struct Row {
        const char *key, *target;
        int64_t pixels, prefetch;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x112x112x32/kernel:1x1x32x16", zen5_target, 14, 0, "many streams lose prefetchers"},
        {"conv2d/input:1x112x112x32/kernel:1x1x32x16", zen4_target, 28, 1, "nobody raced there"},
        {"conv2d/input:1x112x112x16/kernel:1x1x16x16", zen5_target, 28, 0, "L2 has the image"},
        {"conv2d/input:1x112x112x64/kernel:1x1x64x32", zen5_target, 14, 1, "two vectors of outputs"},
    };
    for (const Row &row : rows) {
        const CpuTileKnobs knobs = default_tile(row.key, row.target).knobs;
        EXPECT_EQ(knobs.pixels, row.pixels) << row.key << ": " << row.why;
        EXPECT_EQ(knobs.prefetch, row.prefetch) << row.key << ": " << row.why;
    }
}

// Groups that fill vectors: panels of one group, a padded copy where tiles would test too often, and weights beyond L2 once.
TEST(LargeGroups, HavePanelsCopiesAndOrders) {
    constexpr const char *avx2 = "x86-64-linux-avx-avx2-f16c-fma-sse41";
    struct Row {
        const char *key, *target;
        int64_t vectors, stage_input;
        bool passes_once;
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x14x14x896/kernel:3x3x64x896/padding:1,1x1,1/feature_group_count:14", avx2, 2, 2, true,
         "tiles of two rows; three vectors would cross groups of eight; 2 MB of weights"},
        {"conv2d/input:1x56x56x96/kernel:3x3x24x96/padding:1,1x1,1/feature_group_count:4", avx2, 3, 0, false,
         "one row, and most tiles of it read no padding"},
        {"conv2d/input:1x7x7x784/kernel:3x3x112x784/padding:1,1x1,1/feature_group_count:7", avx2, 2, 2, true,
         "two tiles, and both read padding; eight sums of one group cost less than twelve of two"},
        {"conv2d/input:1x14x14x512/kernel:3x3x16x512/padding:1,1x1,1/feature_group_count:32", avx2, 2, 2, false,
         "L2 keeps the weights"},
        {"conv2d/input:1x14x14x896/kernel:1x1x64x896/feature_group_count:14", avx2, 2, 0, false, "no padding"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/padding:1,1x1,1/feature_group_count:32", avx2, 2, 0, false,
         "a group in a vector"},
        {"conv2d/input:1x14x14x896/kernel:3x3x64x896/padding:1,1x1,1/feature_group_count:14", zen4_target, 2, 0, false,
         "nobody raced there"},
        {"conv2d/input:1x28x28x240/kernel:3x3x24x240/padding:1,1x1,1/feature_group_count:10", zen4_target, 3, 0, false,
         "nor half vectors of a target that has more registers"},
    };
    for (const Row &row : rows) {
        const CpuTileKnobs k = default_tile(row.key, row.target, machine_of_zen2()).knobs;
        EXPECT_EQ(k.vectors, row.vectors) << row.key << ": " << row.why;
        EXPECT_EQ(k.stage_input, row.stage_input) << row.key << ": " << row.why;
        EXPECT_EQ(k.panel_block == 1, row.passes_once) << row.key << ": " << row.why;
    }
}

TEST(TurnedCopies, UnrollTheTapsOfSmallWindows) {
    const struct {
        const char *key;
        int64_t columns, rows;
    } table[] = {
        {"conv2d/input:1x128x128x32/kernel:3x3x32x3/padding:1,1x1,1", 1, 1},
        {"conv2d/input:1x224x224x32/kernel:5x5x32x1/padding:2,2x2,2", 1, 1},
        {"conv2d/input:1x128x128x32/kernel:7x7x32x3/padding:3,3x3,3", 0, 1},
        {"conv2d/input:1x224x224x32/kernel:9x9x32x3/padding:4,4x4,4", 0, 1},
    };
    for (const auto &row : table) {
        const CpuTileKnobs k = default_tile(row.key, "x86-64-linux-avx-avx2-f16c-fma-sse41", machine_of_zen2()).knobs;
        EXPECT_EQ(k.turned, 1) << row.key;
        EXPECT_EQ(k.unroll_columns, row.columns) << row.key;
        EXPECT_EQ(k.unroll_rows, row.rows) << row.key;
    }
}

TEST(LongSums, HideTheLatencyOfTheMachine) {
    struct Row {
        const char *key;
        int64_t on_zen2, on_zen3;  // sums of a register tile
        const char *why;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x56x56x128/kernel:1x1x128x256/strides:2x2", 12, 8, "ten hide five cycles"},
        {"conv2d/input:1x14x14x512/kernel:3x3x512x512/strides:2x2/padding:1,1x1,1", 12, 8, "the same, of several taps"},
        {"conv2d/input:1x28x28x512/kernel:1x1x512x128", 12, 12, "enough for both"},
        {"conv2d/input:1x60x60x96/kernel:7x7x1x96/padding:3,3x3,3/feature_group_count:96", 9, 9,
         "the next tile begins beside a short sum"},
    };
    for (const Row &row : rows) {
        const auto sums = [&](const Machine &machine) {
            const CpuTileKnobs k = default_tile(row.key, "x86-64-linux-avx-avx2-f16c-fma-sse41", machine).knobs;
            return k.vectors * k.pixels * k.rows;
        };
        EXPECT_EQ(sums(machine_of_zen2()), row.on_zen2) << row.key << ": " << row.why;
        EXPECT_EQ(sums(machine_of_zen3()), row.on_zen3) << row.key << ": " << row.why;
    }
}

}  // namespace
}  // namespace kiln
