#include "schedules/folded_space.h"

#include <gtest/gtest.h>

#include <set>

#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

TEST(FoldedSpace, BlocksOfCandidates) {
    struct Row {
        int64_t block_w, block_h;
        const char *reason;  // none: valid
    };
    constexpr Row rows[] = {
        {4, 2, nullptr},
        {3, 2, "block_w` cannot be 3 here: a block has to divide the stride, 4"},
        {8, 2, "divide the stride, 4"},
        {4, 4, "block_h` cannot be 4 here: a block has to divide the stride, 4, and be no larger than the input, 3"},
        {1, 1, "blocks of one pixel"},
    };
    const auto w = parse_workload_key("conv2d/input:1x3x40x3/kernel:3x5x3x16/strides:4x4/padding:0,0x1,1");
    ASSERT_TRUE(w) << w.error().message;
    const ConvLoops whole = conv_loops(*w);
    const Space space = folded_space({}, whole, [&](const Blocks &blocks) {
        return cpu_tile_space({}, folded(whole, blocks), *parse_target("avx512", 1, avx512), {});
    });
    EXPECT_EQ(checked_knobs<FoldKnobs>(space.default_candidate().knobs).blocks(), (Blocks{4, 2, 1}));
    for (const Row &row : rows) {
        Candidate c = space.default_candidate();
        c.knobs["block_w"] = row.block_w, c.knobs["block_h"] = row.block_h;
        const Status status = space.check(c);
        ASSERT_EQ(status.ok(), row.reason == nullptr) << row.block_w << " " << row.block_h;
        if (row.reason) {
            EXPECT_NE(status.error().message.find(row.reason), std::string::npos) << status.error().message;
        }
    }
    Rng rng(1);  // not the run's seed: blocks that few candidates have may be missing among so few draws
    std::set<Blocks> drawn;
    for (int i = 0; i < 100; i++) {
        const auto candidate = space.sample(rng);
        ASSERT_TRUE(candidate);
        drawn.insert(checked_knobs<FoldKnobs>(candidate->knobs).blocks());
    }
    EXPECT_EQ(drawn.size(), 5u);  // 4x2, 2x2, 1x2, 4x1, 2x1
}

}  // namespace
}  // namespace kiln
