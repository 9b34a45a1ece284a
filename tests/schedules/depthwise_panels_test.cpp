// How many panels of a depthwise layer walk over the image together.
#include <gtest/gtest.h>

#include "schedules/spaces/cpu_tile_space.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

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
    Machine machine;
    machine.l1_bytes = 48 << 10, machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    for (const Row &row : rows) {
        const Workload workload = *parse_workload_key(row.key);
        const Target target{row.target, 1};
        const Space space = cpu_tile_space({}, conv_loops(workload), target, core_of(machine, target));
        const CpuTileKnobs knobs = *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
        EXPECT_EQ(knobs.panel_block, row.panels_together) << row.key << ": " << row.why;
        EXPECT_EQ((conv_loops(workload).output_channels + 16 * knobs.vectors - 1) / (16 * knobs.vectors), row.panels)
            << row.key;
    }
}

}  // namespace
}  // namespace kiln
