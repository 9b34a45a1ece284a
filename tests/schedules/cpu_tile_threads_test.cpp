// What threads share of an untuned convolution.
#include <gtest/gtest.h>

#include <algorithm>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

enum class Shared { rows = 1, panels = 2, pixels = 3 };

struct Row {
    const char *key;
    int threads;
    Shared shared;
};

// Parts of the image where weights are small, so that threads find what they wrote before; panels where weights are most of what
// is read. A 1x1 convolution is a single row of pixels.
constexpr Row rows[] = {
    {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", 2, Shared::rows},
    {"conv2d/input:1x55x55x128/kernel:1x1x128x16/epilogue:bias,relu", 2, Shared::pixels},
    {"conv2d/input:1x55x55x16/kernel:1x1x16x64/epilogue:bias,relu", 2, Shared::pixels},
    {"conv2d/input:1x13x13x64/kernel:1x1x64x256", 2, Shared::pixels},
    {"conv2d/input:1x56x56x24/kernel:1x1x6x112/feature_group_count:4", 2, Shared::pixels},
    {"conv2d/input:1x100x76x128/kernel:1x1x128x128", 4, Shared::pixels},
    {"conv2d/input:8x7x7x32/kernel:3x3x32x32/padding:1,1x1,1", 4, Shared::rows},
    {"conv2d/input:1x14x14x1024/kernel:1x1x1024x2048/strides:2x2", 2, Shared::panels},
    {"conv2d/input:1x14x14x512/kernel:3x3x512x512/strides:2x2/padding:1,1x1,1", 2, Shared::panels},
    {"conv1d/input:1x1x4096/kernel:1x4096x4096/epilogue:bias,relu", 2, Shared::panels},
    {"conv2d/input:1x28x28x240/kernel:3x3x1x240/padding:1,1x1,1/feature_group_count:240", 2, Shared::rows},
    {"conv2d/input:1x1x1x32/kernel:1x1x32x8", 8, Shared::panels},
};

struct Chosen {
    CpuTileKnobs knobs;
    int64_t pieces, most_pieces;
};

Chosen chosen(const Row &row) {
    const Target target = *parse_target("avx2", row.threads, "");
    const ConvLoops loops = conv_loops(*parse_workload_key(row.key));
    const Core core = core_of(Machine(), target);
    Candidate base;
    base.algorithm = "direct";
    const Space space = cpu_tile_space(base, loops, target, core);
    EXPECT_TRUE(space.check(space.default_candidate())) << row.key;
    const CpuTileKnobs k = *decode_knobs<CpuTileKnobs>(space.default_candidate().knobs);
    const TileFacts facts = tile_facts(loops, vector_lanes(target), target, core);
    const int64_t y_blocks = ceil_div(ceil_div(loops.output[1], k.rows), k.row_block) * loops.batch * loops.output[2];
    const int64_t x_blocks = ceil_div(facts.x_tiles(k.pixels), k.x_block);
    const int64_t panels = facts.panels(k.vectors);
    if (k.parallel == 2) return {k, ceil_div(panels, k.panel_block), panels};
    const int64_t pixels = loops.output[0] * loops.output[1] * loops.output[2] * loops.batch;
    return {k, k.parallel == 3 ? x_blocks * y_blocks : y_blocks, pixels};
}

TEST(SharedByThreads, PartsOfTheImageOrPanels) {
    for (const Row &row : rows) EXPECT_EQ(static_cast<Shared>(chosen(row).knobs.parallel), row.shared) << row.key;
}

// A thread that comes late finds its pieces done by others; two pieces for two threads would be waited for.
TEST(SharedByThreads, ThereAreSeveralPiecesForEach) {
    for (const Row &row : rows) {
        const Chosen c = chosen(row);
        EXPECT_GE(c.pieces, std::min<int64_t>(2 * row.threads, c.most_pieces)) << row.key;
    }
}

// The last tile of 7 pixels in tiles of 3 computes two pixels of the one before it.
TEST(SharedByThreads, NoTwoComputeTheSamePixels) {
    const Target target = *parse_target("avx2", 2, "");
    const ConvLoops loops = conv_loops(*parse_workload_key("conv2d/input:1x40x7x64/kernel:3x3x64x64/padding:1,1x1,1"));
    const TileFacts facts = tile_facts(loops, vector_lanes(target), target, core_of(Machine(), target));
    for (const int64_t block : {1, 2}) EXPECT_FALSE(blocks_are_apart(facts, 3, block)) << block;
    EXPECT_TRUE(blocks_are_apart(facts, 3, 3));
    EXPECT_TRUE(blocks_are_apart(facts, 7, 1));
    Candidate base;
    base.algorithm = "direct";
    const Space space = cpu_tile_space(base, loops, target, core_of(Machine(), target));
    Candidate candidate = space.default_candidate();
    candidate.knobs["parallel"] = 3, candidate.knobs["x_block"] = 1;
    candidate.knobs["vectors"] = 2, candidate.knobs["pixels"] = 4, candidate.knobs["rows"] = 1;
    const Status status = space.check(candidate);
    ASSERT_FALSE(status);
    EXPECT_NE(status.error().message.find("same pixels"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace kiln
