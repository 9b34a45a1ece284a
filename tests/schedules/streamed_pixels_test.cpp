// Tiles of 1x1 layers of one vector of outputs.
#include <gtest/gtest.h>

#include "schedules/spaces/cpu_tile_space.h"
#include "tests/target_names.h"

namespace kiln {
namespace {

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
    Machine machine;
    machine.l1_bytes = 48 << 10, machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    for (const Row &row : rows) {
        const Target target{row.target, 1};
        const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
        const Space space = cpu_tile_space({}, loops, target, core_of(machine, target));
        const CpuTileKnobs knobs = *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
        EXPECT_EQ(knobs.pixels, row.pixels) << row.key << ": " << row.why;
        EXPECT_EQ(knobs.prefetch, row.prefetch) << row.key << ": " << row.why;
    }
}

}  // namespace
}  // namespace kiln
