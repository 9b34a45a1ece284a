// What Winograd's defaults fetch ahead, and what its candidates may.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "tests/schedules/winograd_spaces.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

// Where the weights of a panel come from memory, one register tile of the whole image multiplies them as they come; they are
// fetched ahead.
TEST(WinogradFetches, WeightsFromMemoryPassOnce) {
    const Target target = *parse_target("avx512", 1, "");
    const Workload w = *parse_workload_key("conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1");
    const WinogradKnobs far = winograd_knobs_of(winograd_space_of(w, target).default_candidate());
    EXPECT_EQ(far.tiles_x * far.tiles_y, 16) << "tiles of the image";
    EXPECT_EQ(far.fetch_weights, 8);
    Core large;
    large.l2_bytes = int64_t{256} << 20;
    const Space close = winograd_space({}, {4, 2, false}, conv_loops(w), target, large);
    const WinogradKnobs near = winograd_knobs_of(close.default_candidate());
    EXPECT_EQ(near.fetch_weights, 0);
    EXPECT_GT(near.vectors, far.vectors) << "more products a load of the input";
    const Workload small = convolution({1, 14, 14, 8}, {3, 3, 8, 16});
    EXPECT_FALSE(winograd_space_of(small, target).default_candidate().knobs.contains("fetch_weights")) << "18 KiB";
}

// Products of several images share a load of weights as those of several tiles do.
TEST(WinogradFetches, WeightsOfImagesThatShareABlockAreFetched) {
    const Target target = *parse_target("avx2", 1, "");
    const Workload w =
        *parse_workload_key("conv2d/input:1x33x33x320/kernel:3x3x320x256/padding:12,12x12,12/rhs_dilation:12x12");
    const Space space =
        winograd_space({}, {4, 2, false}, input_phases(conv_loops(w)), target, core_of(Machine(), target));
    const WinogradKnobs k = winograd_knobs_of(space.default_candidate());
    EXPECT_EQ(k.tiles_x * k.tiles_y, 1) << "tiles of a phase";
    EXPECT_GE(tiles_of_tile(k), 4);
    EXPECT_EQ(k.fetch_weights, 8);
}

// Lines of large images are fetched tiles ahead, more of them where a tile has few channels.
TEST(WinogradFetches, ImagesFromMemoryAreFetched) {
    const struct {
        const char *key;
        bool can;
        int64_t untuned;
    } rows[] = {
        {"conv2d/input:1x224x224x64/kernel:3x3x64x64/padding:1,1x1,1", true, 1},
        {"conv2d/input:1x320x320x32/kernel:3x3x32x32/padding:1,1x1,1", true, 2},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", true, 0},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1", false, 0},
        {"conv2d/input:1x224x224x64/kernel:3x3x64x64/padding:1,1x1,1/input_layout:NCHW/output_layout:NCHW", false, 0},
    };
    for (const auto &row : rows) {
        const auto w = parse_workload_key(row.key);
        ASSERT_TRUE(w) << w.error().message;
        Core core;
        core.l3_bytes = int64_t{32} << 20;
        const Space space = winograd_space({}, {4, 2, false}, conv_loops(*w), *parse_target("avx512", 1, ""), core);
        const bool can = std::ranges::any_of(space.knobs(), [](const Knob &knob) { return knob.name == "prefetch"; });
        EXPECT_EQ(can, row.can) << row.key;
        EXPECT_EQ(winograd_knobs_of(space.default_candidate()).prefetch, row.untuned) << row.key;
        Candidate before = space.default_candidate();
        before.knobs.erase("prefetch");
        EXPECT_TRUE(space.check(before)) << row.key << ": texts from before it came are candidates";
    }
}

// Whole panels are fetched on a Zen 5 where weights are far and a panel serves so many tiles that few lines are on their way at once.
TEST(WinogradFetches, WholePanelsAreFetchedForManyTiles) {
    constexpr struct {
        const char *key, *target;
        int64_t fetch_panels;
    } rows[] = {
        {"conv2d/input:1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", zen5_target, 1},
        {"conv2d/input:1x28x28x512/kernel:3x3x512x512/padding:1,1x1,1", zen5_target, 1},
        {"conv2d/input:1x56x56x256/kernel:3x3x256x256/padding:1,1x1,1", zen5_target, 1},
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", zen5_target, 0},  // sixteen tiles
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", zen5_target, 0},     // near weights
        {"conv2d/input:1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1", zen4_target, 0},  // not raced
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Space space = winograd_space({}, {4, 2, false}, loops, target, core_of(machine_of_zen5(), target));
        const WinogradKnobs k = winograd_knobs_of(space.default_candidate());
        EXPECT_TRUE(space.check(space.default_candidate())) << row.key;
        EXPECT_EQ(k.fetch_panels, row.fetch_panels) << row.key << " " << row.target;
        EXPECT_TRUE(!k.fetch_panels || !k.fetch_weights) << row.key;
    }
}

// Results of the input's transform are read once for each panel: few panels gain nothing by larger blocks of them.
TEST(WinogradFetches, WholePanelsOnAnEmeraldRapids) {
    constexpr struct {
        const char *key;
        int64_t fetch_panels;
    } rows[] = {
        {"conv2d/input:1x38x38x256/kernel:3x3x256x256/padding:1,1x1,1", 1},
        {"conv2d/input:1x56x56x128/kernel:3x3x128x96/padding:1,1x1,1", 1},
        {"conv2d/input:1x160x160x128/kernel:3x3x128x64/padding:1,1x1,1", 0},  // four vectors of outputs
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", 0},      // near weights
    };
    const Target target = *parse_target(emerald_rapids_target, 1, "");
    for (const auto &row : rows) {
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Core core = core_of(machine_of_emerald_rapids(), target);
        const Space space = winograd_space({}, {4, 2, false}, loops, target, core);
        EXPECT_EQ(winograd_knobs_of(space.default_candidate()).fetch_panels, row.fetch_panels) << row.key;
    }
}

TEST(WinogradFetches, WholePanelsOnAZen2) {
    const Target target = *parse_target("avx2", 1, "");
    const ConvLoops loops =
        conv_loops(*parse_workload_key("conv2d/input:1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1"));
    const auto default_on = [&](const Machine &machine) {
        const Space space = winograd_space({}, {5, 2, false}, loops, target, core_of(machine, target));
        return winograd_knobs_of(space.default_candidate());
    };
    const WinogradKnobs zen2 = default_on(machine_of_zen2()), zen3 = default_on(machine_of_zen3());
    EXPECT_EQ(zen2.fetch_panels, 1);
    EXPECT_GT(zen2.block_y, zen3.block_y);  // weights pass fewer times
    EXPECT_EQ(zen3.fetch_panels, 0);
}

TEST(WinogradFetches, SharedPanelsAloneAreFetched) {
    const Workload w = *parse_workload_key("conv2d/input:1x28x28x64/kernel:3x3x64x64/padding:1,1x1,1");  // 7x7 tiles
    const Space space = winograd_space_of(w, *parse_target("avx512", 1, ""));
    constexpr struct {
        const char *what;
        int64_t block_x, block_y, tiles_x, fetch_panels, fetch_weights;
        bool fits;
    } rows[] = {
        {"seven tiles a block", 7, 7, 7, 1, 0, true},
        {"two tiles, the last one shifted", 7, 1, 4, 1, 0, true},
        {"one tile a block", 7, 1, 7, 1, 0, false},
        {"a block of three rows beside one of four", 7, 4, 7, 1, 0, false},
        {"kilobytes, too", 7, 7, 7, 1, 8, false},
        {"kilobytes alone", 7, 7, 7, 0, 8, true},
    };
    for (const auto &row : rows) {
        Candidate candidate = space.default_candidate();
        candidate.knobs["vectors"] = candidate.knobs["panel_block"] = candidate.knobs["tiles_y"] = 1;
        candidate.knobs["block_x"] = row.block_x, candidate.knobs["block_y"] = row.block_y;
        candidate.knobs["tiles_x"] = row.tiles_x, candidate.knobs["stage_rows"] = 0;
        candidate.knobs.erase("fetch_weights");
        if (row.fetch_panels) candidate.knobs["fetch_panels"] = row.fetch_panels;
        if (row.fetch_weights) candidate.knobs["fetch_weights"] = row.fetch_weights;
        const Status status = space.check(candidate);
        EXPECT_EQ(status.ok(), row.fits) << row.what << ": " << (status ? "" : status.error().message);
    }
}

// The memory of a first layer's result is far; that is known of a Zen 5.
TEST(WinogradFetches, ResultsOfFirstLayersAreFetched) {
    constexpr struct {
        const char *key, *target;
        int64_t prefetch;
    } rows[] = {
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", zen5_target, 2},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", zen4_target, 0},
        {"conv2d/input:1x112x112x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", zen5_target, 0},
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", zen5_target, 0},
    };
    for (const auto &row : rows) {
        const Target target = *parse_target(row.target, 1, "");
        const ConvLoops loops = unit_strides(conv_loops(*parse_workload_key(row.key)));
        const Space space = winograd_space({}, {4, 2, false}, loops, target, core_of(machine_of_zen5(), target));
        EXPECT_EQ(winograd_knobs_of(space.default_candidate()).prefetch, row.prefetch) << row.key << " " << row.target;
    }
}

}  // namespace
}  // namespace kiln
