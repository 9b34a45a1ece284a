#include "schedules/spaces/winograd/winograd_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rewrites/input_phases.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "tests/schedules/winograd_spaces.h"
#include "tests/target_names.h"
#include "tests/test_seed.h"

namespace kiln {
namespace {

// Whatever the shape and the target: the default is valid, candidates can be drawn, threads are used where there are
// some.
TEST(WinogradSpace, EveryTargetHasOne) {
    Rng rng(test_seed());
    for (const char *key : {"conv2d/input:1x58x58x64/kernel:3x3x64x64", "conv2d/input:2x5x9x1/kernel:3x3x1x1",
                            "conv2d/input:1x9x120x300/kernel:1x3x300x7", "conv1d/input:3x50x12/kernel:5x12x20",
                            "conv2d/input:1x18x18x20/kernel:3x3x20x36/input_layout:NCHW/output_layout:NCHW8c"}) {
        const Workload w = *parse_workload_key(key);
        for (const char *name : {"baseline", "avx2", "avx512", "arm-32-linux-no_neon"}) {
            for (int threads : {1, 2, 7}) {
                for (int m : {2, 4, 6}) {
                    const Target target = *parse_target(name, threads, "");
                    const Space space = winograd_space_of(w, target, {m, 2, true});
                    const Candidate &chosen = space.default_candidate();
                    const Status fits = space.check(chosen);
                    EXPECT_TRUE(fits) << key << " " << to_text(target) << ": " << fits.error().message;
                    EXPECT_TRUE(space.sample(rng)) << key << " " << to_text(target);
                    EXPECT_EQ(winograd_knobs_of(chosen).parallel > 0, threads > 1) << key << " " << to_text(target);
                    EXPECT_EQ(winograd_knobs_of(chosen).demote, 0) << "f32 unless asked for: " << key;
                }
            }
        }
    }
}

// Whole rows are copied: those of small images mostly in vain, and long rows of many channels need too much memory.
TEST(WinogradSpace, RowsOfNchwAreCopiedWhereThatPays) {
    const struct {
        const char *image, *target;
        int64_t stage_input;
    } rows[] = {
        {"1x56x56x64", "avx2", 1},
        {"1x56x56x64", "avx512", 0},
        {"1x56x56x64", "baseline", 0},
        {"1x14x14x64", "avx2", 0},
        {"1x56x56x6", "avx2", 0},
        {"1x16x2000x64", "avx2", 1},
        {"1x64x20000x256", "avx2", 0},
        {"1x56x56x64", zen5_target, 1},
        {"1x56x56x64", zen4_target, 0},
        {"1x14x14x64", zen5_target, 1},  // copied columns beyond the image cost less than elements one by one
        {"1x7x7x64", zen5_target, 0},
        {"1x80x80x40", zen5_target, 1},
        {"1x64x64x24", zen5_target, 0},  // half vectors, and planes that share sets of L1
    };
    for (const auto &[image, target, stage_input] : rows) {
        const std::string channels = std::string(image).substr(std::string(image).rfind('x') + 1);
        const std::string key =
            std::string("conv2d/input:") + image + "/kernel:3x3x" + channels + "x32/padding:1,1x1,1";
        const Target of = *parse_target(target, 1, "");
        Core core;
        core.copies_winograd_rows = core_of(Machine(), of).copies_winograd_rows;
        const ConvLoops loops = conv_loops(*parse_workload_key(key + "/input_layout:NCHW"));
        const Space apart = winograd_space({}, {4, 2, false}, loops, of, core);
        EXPECT_TRUE(apart.check(apart.default_candidate())) << key << " " << target;
        EXPECT_EQ(winograd_knobs_of(apart.default_candidate()).stage_input, stage_input) << key << " " << target;
        const Space together = winograd_space_of(*parse_workload_key(key), of);
        EXPECT_EQ(winograd_knobs_of(together.default_candidate()).stage_input, 0) << key << " " << target;
    }
}

// A target without vectors has lanes of one channel and half of the registers of AVX-512.
TEST(WinogradSpace, AScalarTargetHasSmallTiles) {
    const Workload w = convolution({1, 58, 58, 64}, {3, 3, 64, 64});
    const Target scalar = *parse_target("arm-32-linux-no_neon", 1, "");
    const WinogradFacts facts = winograd_facts(conv_loops(w), 4, scalar, Core());
    EXPECT_EQ(facts.lanes, 1);
    EXPECT_EQ(facts.output_vectors(), 64);
    Candidate candidate = winograd_space_of(w, scalar).default_candidate();
    const WinogradKnobs chosen = winograd_knobs_of(candidate);
    EXPECT_LE(chosen.vectors * chosen.tiles_x * chosen.tiles_y, facts.registers - 2);
    candidate.knobs["vectors"] = 4, candidate.knobs["tiles_x"] = 14, candidate.knobs["tiles_y"] = 1;
    candidate.knobs["block_x"] = 14;
    const Status status = winograd_space_of(w, scalar).check(candidate);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("vector registers"), std::string::npos) << status.error().message;
}

TEST(WinogradSpace, RefusesCandidatesThatDoNotFit) {
    struct Row {
        Knobs changed;
        int threads;
        const char *reason;
    };
    const Row rows[] = {
        {{{"vectors", 5}}, 1, "vectors"},
        {{{"points", 7}}, 1, "points"},
        {{{"demote", 1}}, 1, "demote"},
        {{{"block_x", 1}}, 1, "larger than the block"},
        {{{"tiles_y", 8}}, 1, "vector registers"},
        {{{"tiles_x", 10}}, 1, "overlap too much"},
        {{{"panel_block", 4}}, 1, "more panels"},
        {{{"stage_rows", 1}}, 1, "several blocks"},
        {{{"parallel", 1}, {"block_y", 14}}, 4, "some threads would be without work"},
        {{{"parallel", 2}, {"panel_block", 2}}, 4, "some threads would be without work"},
        {{{"parallel", 3}, {"block_y", 14}}, 4, "some threads would be without work"},
        {{{"parallel", 3}, {"block_x", 7}, {"tiles_x", 7}, {"stage_rows", 1}}, 4, "one thread computes"},
        {{{"parallel", 0}}, 4, "parallel"},
    };
    const Workload w = convolution({1, 58, 58, 64}, {3, 3, 64, 64});
    const Knobs good{{"points", 0},  {"vectors", 2},     {"tiles_x", 14},   {"tiles_y", 1},    {"block_x", 14},
                     {"block_y", 2}, {"panel_block", 2}, {"tile_major", 0}, {"stage_rows", 0}, {"unroll", 4}};
    for (const Row &row : rows) {
        const Space space = winograd_space_of(w, *parse_target("avx512", row.threads, ""));
        Candidate candidate = space.default_candidate();
        candidate.knobs = good;
        if (row.threads > 1) candidate.knobs["parallel"] = 1;
        EXPECT_TRUE(space.check(candidate)) << row.reason << ": " << space.check(candidate).error().message;
        for (const auto &[name, value] : row.changed) candidate.knobs[name] = value;
        const Status status = space.check(candidate);
        ASSERT_FALSE(status) << row.reason;
        EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
    }
}

// Images and phases of few tiles share a block, so that weights are read once for several of them; a block holds whole images.
TEST(WinogradSpace, ImagesOfFewTilesShareABlock) {
    const struct {
        const char *key;
        bool can, untuned;
    } rows[] = {
        {"conv2d/input:8x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", true, true},
        {"conv2d/input:1x33x33x320/kernel:3x3x320x256/padding:12,12x12,12/rhs_dilation:12x12", true, true},
        {"conv2d/input:1x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", false, false},
        {"conv2d/input:8x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", false, false},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const auto &row : rows) {
        const ConvLoops loops = input_phases(conv_loops(*parse_workload_key(row.key)));
        const Space space = winograd_space({}, {4, 2, false}, loops, target, core_of(Machine(), target));
        const Candidate standard = space.default_candidate();
        EXPECT_EQ(winograd_knobs_of(standard).images > 1, row.untuned) << row.key;
        EXPECT_EQ(standard.knobs.contains("images"), row.untuned) << row.key;
        const auto check_with = [&](const Knobs &changed) {
            Candidate candidate = standard;
            for (const auto &[name, value] : changed) candidate.knobs[name] = value;
            for (const char *name : {"images", "tile_images"}) {
                if (changed.contains(name) && changed.at(name) == 0) candidate.knobs.erase(name);
            }
            return space.check(candidate).ok();
        };
        const Knobs one_tile{{"tiles_x", 1}, {"tiles_y", 1}, {"vectors", 2}, {"stage_rows", 0}, {"tile_major", 0}};
        const auto and_one_tile = [&](Knobs knobs) {
            knobs.insert(one_tile.begin(), one_tile.end());
            return knobs;
        };
        EXPECT_TRUE(check_with(and_one_tile({{"images", 0}, {"tile_images", 0}}))) << row.key;
        EXPECT_EQ(check_with(and_one_tile({{"images", 8}, {"tile_images", 4}})), row.can && loops.batch % 8 == 0)
            << row.key;
        EXPECT_FALSE(check_with(and_one_tile({{"images", 2}, {"tile_images", 4}})))
            << row.key << ": a tile beyond its block";
        EXPECT_FALSE(check_with(and_one_tile({{"images", 7}, {"tile_images", 0}}))) << row.key << ": does not divide";
    }
}

// Weights that an L3 cache holds may come again for every block, so that its transformed input stays in L2.
TEST(WinogradSpace, BlocksStayInL2WhereL3HoldsTheWeights) {
    const Target target = *parse_target("avx2", 1, "");
    Core core;
    core.l2_bytes = 512 << 10, core.l3_bytes = 32 << 20;
    const auto block_bytes = [&](const char *key, const Core &of) {
        const ConvLoops loops = conv_loops(*parse_workload_key(key));
        const Space space = winograd_space({}, {4, 2, false}, loops, target, of);
        const WinogradKnobs k = winograd_knobs_of(space.default_candidate());
        return k.block_x * k.block_y * winograd_facts(loops, 4, target, of).frequencies() * loops.input_channels * 4;
    };
    for (const char *key : {"conv2d/input:1x112x112x128/kernel:3x3x128x128/padding:1,1x1,1",
                            "conv2d/input:1x900x161x128/kernel:3x3x128x64/padding:1,1x1,1",
                            "conv2d/input:1x75x101x128/kernel:3x3x128x128/padding:1,1x1,1"}) {
        EXPECT_LE(block_bytes(key, core), core.l2_bytes) << key;
        Core slow = core;
        slow.l3_bytes_a_cycle = core.memory_bytes_a_cycle, slow.from_l3 = core.from_l2, slow.l3_share = 0.75;
        EXPECT_GT(block_bytes(key, slow), core.l2_bytes) << key << ", whose weights come slowly each time";
    }
}

// The products of a tile lie apart by those of a row of tiles more where they would share a few sets of the L1 cache.
TEST(WinogradSpace, ProductsDoNotCollide) {
    const struct {
        int m;
        int64_t block_x, block_y, panel_block, vectors;
        TilesInMemory stored;
    } rows[] = {
        {4, 14, 2, 2, 2, {15, 2, 4}},   // 7168 bytes: four sets
        {4, 14, 1, 2, 2, {14, 1, 4}},   // 3584: eight
        {4, 4, 4, 4, 1, {5, 5, 4}},     // 4096, and a column or a row more makes 5120
        {4, 4, 8, 4, 1, {5, 9, 4}},     // 8192; a row more makes 9216, a column 10240
        {4, 7, 4, 1, 4, {7, 5, 4}},     // 7168, and 8192 with a column more
        {4, 16, 1, 4, 4, {16, 1, 16}},  // 16384; a column or a row more adds multiples of 1024
        {2, 14, 2, 2, 2, {14, 2, 4}},   // 16 products of a tile fit into four sets
    };
    const Workload w = convolution({1, 58, 58, 64}, {3, 3, 64, 64});
    for (const auto &row : rows) {
        const WinogradFacts facts = winograd_facts(conv_loops(w), row.m, *parse_target("avx512", 1, ""), Core());
        WinogradKnobs k;
        k.block_x = row.block_x, k.block_y = row.block_y, k.panel_block = row.panel_block, k.vectors = row.vectors;
        const TilesInMemory stored = stored_products(facts, k);
        EXPECT_EQ(stored, row.stored) << row.block_x << "x" << row.block_y << ": " << stored.x << " " << stored.y << " "
                                      << stored.vectors;
    }
}

// What a block keeps is at most 16 MiB, or what the smallest block needs where that is more.
TEST(WinogradSpace, TheWorkspaceHasALimit) {
    struct Row {
        const char *key;
        int64_t block_x, block_y;
        bool fits;
    };
    constexpr Row rows[] = {
        // 36 products of 512 input channels and of 64 output channels: 73,728 + 9,216 bytes a tile
        {"conv2d/input:1x114x114x512/kernel:3x3x512x64", 14, 14, true},
        {"conv2d/input:1x114x114x512/kernel:3x3x512x64", 28, 7, true},
        {"conv2d/input:1x114x114x512/kernel:3x3x512x64", 28, 14, false},
        {"conv2d/input:1x114x114x512/kernel:3x3x512x64", 28, 28, false},
        // 18 MiB for one tile: a block of one is all that is allowed
        {"conv2d/input:1x16x16x131072/kernel:3x3x131072x16", 1, 1, true},
        {"conv2d/input:1x16x16x131072/kernel:3x3x131072x16", 2, 1, false},
    };
    const Target target = *parse_target("avx512", 1, "");
    for (const Row &row : rows) {
        const Workload w = *parse_workload_key(row.key);
        const Space space = winograd_space_of(w, target);
        EXPECT_TRUE(space.check(space.default_candidate())) << row.key;
        Candidate candidate = space.default_candidate();
        candidate.knobs["vectors"] = candidate.knobs["tiles_x"] = candidate.knobs["tiles_y"] = 1;
        candidate.knobs["panel_block"] = w.kernel.back() / 16;
        candidate.knobs["block_x"] = row.block_x, candidate.knobs["block_y"] = row.block_y;
        candidate.knobs["stage_rows"] = 0;
        const Status status = space.check(candidate);
        EXPECT_EQ(status.ok(), row.fits) << row.key << " " << row.block_x << "x" << row.block_y << ": "
                                         << (status ? "" : status.error().message);
        if (!status) {
            EXPECT_NE(status.error().message.find("16 MiB"), std::string::npos) << status.error().message;
        }
    }
}

// A multiple of 1024 bytes from place to place is too few sets of the L1 cache; the type that is stored counts.
TEST(WinogradSpace, PlacesOfATileDoNotCollide) {
    struct Row {
        int64_t channels, block_x, block_y, stage_rows, demote;
        TilesInMemory stored;
    };
    constexpr Row rows[] = {
        {64, 4, 1, 0, 0, {4, 1, 5}},   {64, 14, 1, 0, 0, {14, 1, 4}}, {64, 14, 2, 0, 0, {14, 2, 5}},
        {128, 7, 2, 0, 0, {7, 2, 9}},  {96, 7, 1, 0, 0, {7, 1, 6}},   {64, 3, 1, 0, 0, {3, 1, 4}},
        {64, 3, 1, 1, 0, {14, 1, 4}},  {64, 3, 2, 1, 0, {14, 2, 5}},  {512, 7, 7, 0, 0, {7, 7, 33}},
        {64, 14, 2, 0, 2, {14, 2, 4}}, {64, 14, 2, 0, 1, {14, 2, 5}}, {3, 14, 4, 0, 0, {14, 4, 1}},
        {64, 4, 4, 0, 0, {5, 4, 5}},  // 4096 bytes; a vector more makes 5120, as a column or a row does
        {64, 4, 8, 0, 0, {5, 8, 5}},
    };
    for (const Row &row : rows) {
        const Workload w = convolution({1, 58, 58, row.channels}, {3, 3, row.channels, 64});
        const WinogradFacts facts = winograd_facts(conv_loops(w), 4, *parse_target("avx512", 1, ""), Core());
        WinogradKnobs k;
        k.block_x = row.block_x, k.block_y = row.block_y, k.stage_rows = row.stage_rows, k.demote = row.demote;
        const TilesInMemory stored = stored_transformed(facts, k);
        EXPECT_EQ(stored, row.stored) << row.channels << ": " << row.block_x << "x" << row.block_y << ": " << stored.x
                                      << " " << stored.y << " " << stored.vectors;
    }
}

// Each of Strassen's products reads all channels of a tile, so a multiple of 512 bytes from vector to vector is too few sets.
TEST(WinogradSpace, VectorsOfHalvesDoNotCollide) {
    const struct {
        const char *target;
        int64_t block_x, stored_x;
    } rows[] = {{"avx2", 64, 65}, {"avx2", 16, 17}, {"avx2", 49, 49},   {"avx2", 8, 8},      {"avx2", 56, 56},
                {"avx2", 48, 49}, {"avx512", 8, 9}, {"avx512", 49, 49}, {"baseline", 32, 33}};
    for (const auto &row : rows) {
        const Workload w = convolution({1, 16, 16, 672}, {1, 1, 672, 192});
        const WinogradFacts facts = strassen_facts(conv_loops(w), *parse_target(row.target, 1, ""), Core());
        WinogradKnobs k;
        k.block_x = row.block_x, k.block_y = 1, k.panel_block = 3, k.vectors = 2;
        EXPECT_EQ(stored_transformed(facts, k).x, row.stored_x) << row.target << " " << row.block_x;
        EXPECT_EQ(stored_products(facts, k), (TilesInMemory{row.stored_x, 1, 6})) << row.target << " " << row.block_x;
    }
}

// Few channels that fill half vectors, but not whole ones, are summed without zeros.
TEST(WinogradSpace, ChannelsAreSummedInVectorsThatTheyFill) {
    const struct {
        int64_t channels;
        const char *target;
        int64_t step, summed;
    } rows[] = {
        {12, "avx2", 4, 12},   {4, "avx2", 4, 4},      {8, "avx2", 8, 8},      {16, "avx2", 8, 16},
        {20, "avx2", 8, 24},   {10, "avx2", 8, 16},    {3, "avx2", 3, 3},      {12, "avx512", 12, 12},
        {24, "avx512", 8, 24}, {32, "avx512", 16, 32}, {40, "avx512", 16, 48}, {6, "baseline", 2, 6},
        {7, "baseline", 4, 8},
    };
    for (const auto &row : rows) {
        const Workload w = convolution({1, 20, 20, row.channels}, {3, 3, row.channels, 64});
        const WinogradFacts facts = winograd_facts(conv_loops(w), 4, *parse_target(row.target, 1, ""), Core());
        EXPECT_EQ(facts.channel_step(), row.step) << row.channels << " " << row.target;
        EXPECT_EQ(facts.summed_channels(), row.summed) << row.channels << " " << row.target;
    }
}

// Pixels of a block that lie side by side are loaded together where vectors reach over pixels.
TEST(WinogradSpace, RowsOfBlocksLieSideBySide) {
    constexpr struct {
        const char *key, *target;
        int64_t elements;
    } rows[] = {
        {"conv2d/input:1x20x20x3/kernel:7x7x3x64/strides:2x2", "avx512", 6},     // two rows in twelve lanes
        {"conv2d/input:1x20x20x3/kernel:7x7x3x64/strides:2x2", "avx2", 0},       // four lanes at a time
        {"conv2d/input:1x20x20x4/kernel:5x5x4x64/strides:2x2", "avx512", 8},     // two rows in a vector
        {"conv2d/input:1x20x20x8/kernel:3x3x8x64/strides:2x2", "avx512", 16},    // one
        {"conv2d/input:1x20x20x24/kernel:3x3x24x64/strides:2x2", "avx512", 48},  // a third of one
        {"conv2d/input:1x20x20x32/kernel:3x3x32x64/strides:2x2", "avx512", 0},   // whole vectors of one pixel
        {"conv2d/input:1x20x20x20/kernel:3x3x20x64/strides:2x2", "avx512", 0},   // neither parts nor whole vectors
        {"conv2d/input:1x20x20x4/kernel:5x5x4x64/strides:1x2", "avx512", 8},
        {"conv2d/input:1x20x20x4/kernel:5x5x4x64/strides:2x2/rhs_dilation:1x3", "avx512", 0},  // every third pixel
        {"conv2d/input:1x20x20x4/kernel:5x5x4x64/strides:2x1", "avx512", 0},                   // blocks of one column
        {"conv2d/input:1x20x20x4/kernel:5x5x4x64/strides:2x2/input_layout:NCHW", "avx512", 0},
        {"conv2d/input:1x20x20x3/kernel:3x3x3x64", "avx512", 0},
    };
    for (const auto &row : rows) {
        const ConvLoops loops = unit_strides(conv_loops(*parse_workload_key(row.key)));
        EXPECT_EQ(winograd_facts(loops, 4, *parse_target(row.target, 1, ""), Core()).side_by_side(), row.elements)
            << row.key << " " << row.target;
    }
}

// Pixels without a last tap are left out where vectors of channels do not reach over pixels.
TEST(WinogradSpace, PixelsAreSkippedInWholeVectors) {
    struct Row {
        const char *key, *target;
        bool skips;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x20x20x32/kernel:3x3x32x64/strides:2x2", "avx512", true},
        {"conv2d/input:1x20x20x24/kernel:3x3x24x64/strides:2x2", "avx512", false},  // 96 channels, all together
        {"conv2d/input:1x20x20x24/kernel:3x3x24x64/strides:2x2", "avx2", true},
        {"conv2d/input:1x20x20x3/kernel:3x3x3x64/strides:2x2", "avx512", false},
        {"conv2d/input:1x20x20x16/kernel:3x3x16x64/strides:1x2", "avx512", true},
        {"conv2d/input:1x20x20x32/kernel:4x4x32x64/strides:2x2", "avx512", false},
        {"conv2d/input:1x20x20x32/kernel:3x3x32x64", "avx512", false},
    };
    for (const Row &row : rows) {
        const ConvLoops loops = unit_strides(conv_loops(*parse_workload_key(row.key)));
        EXPECT_EQ(winograd_facts(loops, 4, *parse_target(row.target, 1, ""), Core()).skips_pixels(), row.skips)
            << row.key << " " << row.target;
    }
}

// A tile of one vector and more than nine sums spills some of them in 16 registers.
TEST(WinogradSpace, DefaultsOfFewRegistersKeepTheirSumsInThem) {
    constexpr int64_t most_sums = 9;
    for (const char *target : {"baseline", "avx2"}) {
        for (int64_t side : {7, 13, 14, 28, 55, 56, 112}) {
            for (int64_t channels : {16, 64, 256}) {
                const Workload w = convolution({1, side, side, channels}, {3, 3, channels, channels});
                const Knobs knobs = winograd_space_of(w, *parse_target(target, 1, "")).default_candidate().knobs;
                EXPECT_TRUE(knobs.at("vectors") > 1 || knobs.at("tiles_x") * knobs.at("tiles_y") <= most_sums)
                    << target << " " << side << " " << channels;
            }
        }
    }
}

}  // namespace
}  // namespace kiln
