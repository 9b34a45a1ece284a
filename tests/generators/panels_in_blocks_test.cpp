// Blocks of the output's channels that hold several panels of sums: built by the real generator and judged by the real runner.
#include <gtest/gtest.h>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

struct Row {
    const char *key, *candidate;
    bool is_small = false;  // as little code as blocks of one panel need
};

constexpr Row rows[] = {
    {"conv2d/input:1x14x14x32/kernel:1x1x32x64",
     "direct@1/cpu_tile@2/panel_block:1/pixels:8/row_block:1/rows:1/unroll:1/vectors:1/x_block:1", true},
    {"conv2d/input:1x14x14x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64",
     "direct@1/cpu_tile@2/inline_sum:0/panel_block:2/partition:1/pixels:4/row_block:1/rows:2/share_rows:1/skip_rows:0/"
     "stage_input:0/unroll:1/unroll_columns:1/unroll_rows:1/unroll_tiles:0/vectors:1/x_block:1"},
    {"conv2d/input:1x14x14x32/kernel:3x3x32x64/padding:1,1x1,1",
     "winograd_4@1/winograd@1/block_x:2/block_y:2/panel_block:1/points:0/stage_rows:0/tile_major:0/tiles_x:2/tiles_y:1/"
     "unroll:4/vectors:1"},
    {"conv2d/input:1x14x14x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64/input_layout:NCHW",
     "depthwise_rows@1/row_tile@1/channel_block:8/lanes:8/rows:4/slide:0/unroll_rows:1/vectors:1"},
    {"conv2d/input:1x14x14x64/kernel:3x3x1x64/padding:1,1x1,1/feature_group_count:64/input_layout:NCHW",
     "depthwise_turned@1/channel_tile@1/pixels:4/rows:2", true},
};

class PanelsInBlocks : public BuiltKernels {
protected:
    const Target avx2_ = *parse_target("avx2", 1, "");

    static Workload with_blocks(const Row &row, const std::string &block) {
        const std::string key = row.key, in = key.find("input_layout") == key.npos ? "/input_layout:NCHW" + block : "";
        return *parse_workload_key(key + in + "/output_layout:NCHW" + block);
    }
};

// Halide would compute the sums of all panels of a block for each of them, in loops and in memory rather than in registers.
TEST_F(PanelsInBlocks, AreRightAndComputedOnce) {
    for (const Row &row : rows) {
        const auto candidate = parse_candidate(row.candidate);
        ASSERT_TRUE(candidate) << candidate.error().message;
        double one = 0;
        for (const std::string block : {"8c", "16c", "32c"}) {
            const auto built = build(with_blocks(row, block), avx2_, *candidate);
            ASSERT_TRUE(built) << row.candidate << " " << block << ": " << built.error().message;
            EXPECT_EQ(problem(*built), "") << row.candidate << " " << block;
            const auto bytes = double(built->artifact.object_bytes);
            if (block == "8c") one = bytes;
            if (row.is_small) {
                EXPECT_LE(bytes, 1.03 * one) << row.candidate << " " << block;
            }
        }
    }
}

}  // namespace
}  // namespace kiln
