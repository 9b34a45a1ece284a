#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/algorithm_rules.h"
#include "catalog/quantized_algorithm.h"
#include "tests/drawn_workloads.h"
#include "tests/target_names.h"
#include "tests/test_seed.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

const Core core;

// Machines whose caches differ. A generator knows none of them.
std::vector<Machine> unlike_machines() {
    std::vector<Machine> machines(4);
    machines[1].l2_bytes = 512 << 10, machines[1].l3_bytes = 32 << 20;
    machines[2].l1_bytes = 48 << 10, machines[2].l2_bytes = 2 << 20, machines[2].l3_bytes = 260 << 20;
    machines[3].l1_bytes = 16 << 10, machines[3].l2_bytes = 128 << 10, machines[3].l3_bytes = 0;
    return machines;
}

// The default of each algorithm that applies, and a sample of its space.
void expect_in_space(const Workload &w, const Target &target, const Machine &machine, Rng &rng) {
    for (const Algorithm &algorithm : catalog()) {
        if (!algorithm.applies(w, target)) continue;
        const Space space = algorithm.space(w, target, core_of(machine, target));
        const Status status = check_candidate(space.default_candidate(), w, target);
        EXPECT_TRUE(status) << key(w) << " " << to_text(target) << " " << to_text(space.default_candidate()) << ": "
                            << status.error().message;
        EXPECT_TRUE(space.sample(rng)) << key(w) << " " << to_text(target) << " " << algorithm.name;
    }
}

TEST(Catalog, DefaultsAndSamplesLieInTheirSpaceForEveryTarget) {
    // Nothing is computed, so they may be as large as layers of networks.
    ConvolutionDrawer drawer(test_seed(), {70, 300, int64_t{1} << 40, int64_t{1} << 40});
    const std::vector<Machine> machines = unlike_machines();
    size_t computed = 0;
    for (int i = 0; i < 300; i++) {
        const bool is_quantized = i % 3 == 0;
        const Workload w = is_quantized ? drawer.next_quantized()
                           : i % 9 == 1 ? drawer.next_separable()
                                        : drawer.next();
        for (const char *name : {"baseline", "avx2", "avx512", "avx512vnni", "arm-32-linux-no_neon", "rv32im"}) {
            if (name == std::string("rv32im") && !is_quantized) continue;
            for (int threads : {1, 2, 7}) {
                if (name == std::string("rv32im") && threads > 1) continue;
                const Target target = *parse_target(name, threads, avx512);
                const auto candidate = default_candidate(w, target, core, default_error_budget);
                if (!candidate) {
                    const std::string &why = candidate.error().message;
                    const char *reason = elements(signature(w).result.logical) == 0 ? "empty" : "2^31 elements";
                    EXPECT_NE(why.find(reason), std::string::npos) << key(w) << ": " << why;
                    continue;
                }
                computed++;
                expect_in_space(w, target, machines[computed % machines.size()], drawer.rng());
            }
        }
    }
    EXPECT_GT(computed, 1000);
}

// Results and weights that fit into the caches of one machine and not into those of another.
TEST(Catalog, DefaultsOfEachMachineLieInTheSpaceOfAll) {
    Rng rng(test_seed());
    for (const char *key :
         {"conv2d/input:1x30x30x40/kernel:1x1x40x240", "conv2d/input:1x20x20x64/kernel:1x1x64x255",
          "conv2d/input:1x60x60x24/kernel:1x1x24x144/epilogue:bias,hard_swish",
          "conv2d/input:1x28x28x128/kernel:3x3x128x128/padding:1,1x1,1",
          "conv2d/input:1x14x14x256/kernel:3x3x256x512/strides:2x2/padding:1,1x1,1",
          "conv2d/input:1x56x56x96/kernel:5x5x1x96/strides:2x2/padding:2,2x2,2/feature_group_count:96",
          "conv2d/input:1x80x80x32/kernel:3x3x1x32/padding:1,1x1,1/feature_group_count:32/input_layout:NCHW/"
          "output_layout:NCHW",
          "conv2d/input:1x56x56x64/kernel:1x1x64x128/dtype:u8/epilogue:requantize_onnx",
          "conv2d_backprop_kernel/input:1x28x28x64/kernel:3x3x64x64/padding:1,1x1,1"}) {
        const Workload w = *parse_workload_key(key);
        for (const char *name : {"baseline", "avx2", "avx512"}) {
            for (const Machine &machine : unlike_machines())
                expect_in_space(w, *parse_target(name, 1, avx512), machine, rng);
        }
    }
}

// Threads take a part of the tiles that one thread unrolls.
TEST(Catalog, DefaultsOfUnrolledTilesOfThreadsLieInTheirSpace) {
    Rng rng(test_seed());
    const Workload w = *parse_workload_key(
        "conv2d_backprop_input/input:1x19x59x5/kernel:1x9x5x112/strides:4x3/padding:-1,0x37,12/rhs_dilation:1x5/"
        "input_layout:NCHW/output_layout:NCHW/kernel_layout:HWOI");
    expect_in_space(w, *parse_target("avx2", 2, avx512), Machine(), rng);
}

// Blocks of channels that panels do not divide, that have one panel, or that are not filled.
TEST(Catalog, DefaultsOfDepthwiseBlocksLieInTheirSpace) {
    ConvolutionDrawer drawer(test_seed(), {70, 300, int64_t{1} << 40, int64_t{1} << 40});
    const auto draw = [&](int64_t lo, int64_t hi) { return std::to_string(drawer.draw(lo, hi)); };
    for (int i = 0; i < 400; i++) {
        const std::string channels = draw(2, 70), rows = draw(1, 7), columns = draw(1, 9);
        const std::string layout = "NCHW" + draw(2, 33) + "c";
        auto w = parse_workload_key("conv2d/input:1x" + draw(9, 40) + "x" + draw(9, 40) + "x" + channels +
                                    "/kernel:" + rows + "x" + columns + "x1x" + channels +
                                    "/padding:2,2x3,3/feature_group_count:" + channels + "/input_layout:" + layout +
                                    "/output_layout:" + layout);
        ASSERT_TRUE(w) << w.error().message;
        w->strides = {drawer.draw(1, 4), drawer.draw(1, 4)};
        for (const char *name : {"baseline", "avx2", "avx512"})
            expect_in_space(*w, *parse_target(name, 1, avx512), Machine(), drawer.rng());
    }
}

// A tile of the sums that a core needs may have more than keep the products in registers; panels that would take turns are one; rows
// whose input is turned are unrolled.
TEST(Catalog, DefaultsOfFewTilesLieInTheirSpace) {
    const Target target = *parse_target("avx2", 1, avx512);
    Rng rng(test_seed());
    for (const char *key :
         {"conv2d/input:2x8x7x4/kernel:3x1x4x1/strides:1x3/padding:0,3x2,0/dtype:u8/input_layout:NCHW/"
          "epilogue:bias,requantize_litert,add/kernel_zero_point:true",
          "conv2d/input:1x5x3x17/kernel:5x7x1x17/strides:3x4/padding:2,2x3,3/feature_group_count:17/"
          "input_layout:NCHW8c/output_layout:NCHW8c",
          "conv2d_backprop_input/input:1x68x42x3/kernel:8x3x3x8/padding:8,4x3,15/rhs_dilation:2x7"})
        expect_in_space(*parse_workload_key(key), target, Machine(), rng);
}

// Unrolling that is taken back leaves nothing that needs it.
TEST(Catalog, DefaultsOfLongKernelsLieInTheirSpace) {
    const Target target = *parse_target("avx512", 1, avx512);
    const auto w = parse_workload_key(
        "conv2d/input:3x6x44x215/kernel:3x13x215x15/strides:7x5/padding:-2,4x5,1/lhs_dilation:11x12/"
        "batch_group_count:3/"
        "output_dtype:bf16/output_layout:NCHW7c/kernel_layout:HWOI/epilogue:gelu/special_values:exact");
    ASSERT_TRUE(w) << w.error().message;
    const auto candidate = default_candidate(*w, target, core, default_error_budget);
    ASSERT_TRUE(candidate) << candidate.error().message;
    const Status status = check_candidate(*candidate, *w, target);
    EXPECT_TRUE(status) << to_text(*candidate) << ": " << status.error().message;
}

TEST(Catalog, RefusesWithAReason) {
    struct Row {
        const char *key, *reason;
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x2x2x4/kernel:3x3x4x8/dtype:i8/output_dtype:i32", "empty"},
        {"conv2d/input:1x2x2x4/kernel:3x3x4x8", "empty"},
        {"conv2d/input:1x8x8x4/kernel:1x1x4x8/input_layout:NCHW/depthwise:3x3", "input_layout NCHW has the channels"},
        {"conv2d/input:1x9x9x4/kernel:1x1x4x8/depthwise:9x9", "depthwise has 81 taps; needs 64 or fewer"},
        {"conv2d/input:1x9x9x4/kernel:1x1x4x8/input_layout:NCHW/depthwise:3x3",
         "a depthwise convolution in front is not"},
        {"conv2d/input:4096x512x512x4/kernel:3x3x4x8", "2^31"},
        {"conv2d_backprop_kernel/input:4096x512x512x4/kernel:3x3x4x8", "x has more than 2^31"},
        {"conv2d/input:1x12000x12000x3/kernel:1x1x3x16/input_layout:NCHW16c", "input has more than 2^31"},
        {"conv2d_backprop_input/input:1x8x8x1/kernel:1x1x1x1/padding:1073741824,-1073741824x0,0", "32 bits"},
        {"conv2d/input:1x60000x1x1/kernel:1x1x1x1/strides:60000x1/lhs_dilation:40000x1", "32 bits"},
        {"conv2d_backprop_kernel/input:1x5000x5000x4/kernel:1x1x4x4/strides:13x13/lhs_dilation:13x13",
         "dilated, padded input has more than 2^31"},
        {"space_to_depth/input:4096x1024x1024x4/block:2x2", "input has more than 2^31"},
        {"winograd_input_transform/input:1x2x8x4/window:3x3/tile:4x4", "empty"},
        {"winograd_input_transform/input:64x512x512x64/window:3x3/tile:4x4", "2^31"},
        {"winograd_input_transform/input:1x8x8x4/padding:1073741824,0x0,0/window:3x3/tile:4x4", "32 bits"},
        {"winograd_filter_transform/kernel:3x3x4x8/tile:9x4", "at most 10"},
        {"winograd_output_transform/input:1x2x2x4/window:3x3/tile:4x4/points:2", "points is 2"},
    };
    const Target target = *parse_target("avx512", 1, avx512);
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << workload.error().message;
        const auto candidate = default_candidate(*workload, target, core, default_error_budget);
        ASSERT_FALSE(candidate) << row.key;
        EXPECT_EQ(candidate.error().code, ErrorCode::unsupported);
        EXPECT_NE(candidate.error().message.find(row.reason), std::string::npos) << candidate.error().message;
    }
}

TEST(Catalog, SoftCoresSayWhatTheyCannotCompute) {
    const struct {
        const char *key, *reason;
    } rows[] = {
        {"conv2d/input:1x6x6x4/kernel:1x1x4x4", "a soft core has integers only"},
        {"conv2d_backprop_kernel/input:1x6x6x4/kernel:1x1x4x4", "a soft core has integers only"},
    };
    const Target target = *parse_target("rv32im", 1, avx512);
    for (const auto &row : rows) {
        const auto none = default_candidate(*parse_workload_key(row.key), target, core, default_error_budget);
        ASSERT_FALSE(none) << row.key;
        EXPECT_TRUE(none.error().message.starts_with(row.reason))
            << none.error().message;  // without names of algorithms
    }
}

TEST(Catalog, CodeThatLayersShareSaysWhatItLeavesOut) {
    const struct {
        const char *algorithm, *key, *reason;  // no reason: it applies
    } rows[] = {
        {"shared_dense", "conv2d/input:1x6x6x4/kernel:1x1x4x4", ""},
        {"shared_dense", "conv2d/input:3x6x6x4/kernel:1x1x4x4", ""},  // all pixels are one row
        {"shared_dense", "conv2d/input:1x6x6x4/kernel:3x3x4x5/strides:2x1/rhs_dilation:2x1", ""},
        {"shared_dense", "conv2d/input:1x6x6x4/kernel:3x3x4x5/rhs_dilation:1x2", "are not neighbours"},
        {"shared_dense", "conv2d/input:2x6x6x4/kernel:3x3x4x4", "several images"},
        {"shared_dense", "conv2d/input:1x10x10x8/kernel:1x3x8x8/padding:0,0x1,1", "windows of one row"},
        {"shared_dense", "conv3d/input:1x3x6x6x4/kernel:3x3x3x4x4", "planes of a volume"},
        {"shared_dense", "conv3d/input:1x1x6x6x4/kernel:1x3x3x4x4", ""},
        {"shared_dense", "conv3d/input:1x1x6x6x4/kernel:1x3x3x4x4/padding:1,-1x0,0x0,0", "a volume's depth"},
        {"shared_dense", "conv2d/input:1x6x6x4/kernel:3x3x2x4/feature_group_count:2", "groups"},
        {"shared_depthwise", "conv2d/input:1x6x6x3/kernel:3x3x1x6/rhs_dilation:2x2/feature_group_count:3", ""},
        {"shared_depthwise", "conv2d/input:2x6x6x3/kernel:3x3x1x3/feature_group_count:3", "several images"},
        {"shared_depthwise", "conv2d/input:1x9x9x3/kernel:6x5x1x3/feature_group_count:3", "25 taps"},
        {"shared_depthwise", "conv3d/input:1x1x6x6x3/kernel:1x3x3x1x3/padding:1,-1x0,0x0,0/feature_group_count:3",
         "a volume's depth"},
        {"shared_depthwise", "conv2d/input:1x6x6x4/kernel:1x1x4x4", "several channels"},
    };
    const Target target = *parse_target("rv32im", 1, avx512);
    for (const auto &row : rows) {
        const auto workload = parse_workload_key(row.key + std::string("/dtype:i8/epilogue:requantize_litert"));
        ASSERT_TRUE(workload) << workload.error().message;
        const Status applies = find_algorithm(row.algorithm)->applies(*workload, target);
        EXPECT_EQ(applies.ok(), *row.reason == 0) << row.key << ": " << (applies ? "" : applies.error().message);
        const std::string why = applies ? "" : applies.error().message;
        EXPECT_NE(why.find(row.reason), std::string::npos) << why;
    }
}

// One row for each rule of catalog/algorithm_rules.cpp, and its neighbours.
TEST(Catalog, ChoosesAnAlgorithmForTheUnmeasured) {
    struct Row {
        const char *key, *algorithm, *target = "avx512";
    };
    constexpr Row rows[] = {
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4"},
        {"conv2d_backprop_input/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x32x32x64/kernel:3x3x64x64/padding:2,2x2,2/rhs_dilation:2x2", "winograd_4"},
        {"conv2d/input:1x16x16x8/kernel:3x3x8x16/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x14x14x7/kernel:3x3x7x64/padding:1,1x1,1", "direct"},  // few channels
        {"conv2d/input:1x14x14x64/kernel:3x3x64x15/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x9x9x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_3"},  // nine whole tiles
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x13x13x32/kernel:3x3x32x128/padding:1,1x1,1", "winograd_5"},  // nine tiles for sixteen
        {"conv2d/input:1x100x100x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_5", "avx2"},
        {"conv2d/input:1x100x100x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x100x100x16/kernel:3x3x16x16/padding:1,1x1,1", "winograd_4", "avx2"},   // transforms weigh more
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/padding:1,1x1,1", "winograd_4", "avx2"},  // equally many products
        // Few tiles of large weights: smaller tiles have more products, and smaller weights.
        {"conv2d/input:1x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_2"},
        // other windows: fewer products, but for few channels or many weights; errors of ten places a side are too large
        {"conv2d/input:1x28x28x16/kernel:5x5x16x32/padding:2,2x2,2", "winograd_4"},
        {"conv2d/input:1x28x28x64/kernel:5x5x64x64/padding:4,4x4,4/rhs_dilation:2x2", "winograd_4"},
        {"conv2d/input:1x14x14x256/kernel:7x7x256x64/padding:3,3x3,3", "winograd_3"},
        // Phases of a dilation whose outputs mostly are none of the convolution: direct sums leave them out.
        {"conv2d/input:1x9x9x128/kernel:5x5x128x128/padding:16,16x16,16/rhs_dilation:8x8", "direct"},
        {"conv2d/input:1x9x9x128/kernel:5x5x128x128/padding:16,16x16,16/rhs_dilation:8x8", "direct", "avx2"},
        {"conv1d/input:1x520x128/kernel:7x128x128/padding:1536,1536/rhs_dilation:512", "direct"},
        {"conv1d/input:1x520x128/kernel:7x128x128/padding:1536,1536/rhs_dilation:512", "direct", "avx2"},
        {"conv2d/input:1x17x17x64/kernel:3x3x64x64/padding:8,8x8,8/rhs_dilation:8x8", "direct"},
        {"conv2d/input:1x33x33x256/kernel:3x3x256x256/padding:12,12x12,12/rhs_dilation:12x12", "winograd_3"},
        {"conv2d/input:1x17x17x160/kernel:1x7x160x160/padding:0,0x3,3", "winograd_4"},
        {"conv2d/input:1x17x17x160/kernel:7x1x160x160/padding:3,3x0,0", "winograd_4"},
        {"conv1d/input:1x1000x80/kernel:3x80x384/padding:1,1", "winograd_4"},
        {"conv2d/input:1x28x28x4/kernel:5x5x4x32/padding:2,2x2,2", "direct"},
        {"conv2d/input:1x28x28x32/kernel:5x5x32x8/padding:2,2x2,2", "direct"},
        {"conv2d/input:1x7x7x512/kernel:7x7x512x1024", "direct"},
        {"conv2d/input:1x240x240x12/kernel:2x2x12x24", "direct"},
        {"conv2d/input:1x28x28x32/kernel:5x5x32x32/padding:2,2x2,2/special_values:exact", "direct"},
        {"conv2d/input:8x7x7x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:1x6x6x64/kernel:3x3x64x64/padding:1,1x1,1", "direct"},  // few tiles, half empty
        {"conv2d/input:1x5x5x64/kernel:3x3x64x64/padding:1,1x1,1", "direct"},  // tiles mostly empty
        {"conv2d/input:1x14x14x64/kernel:1x1x64x64", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/strides:2x2/padding:1,1x1,1", "direct"},
        // Strides: blocks of pixels save fewer products, have more weights, and their pixels must fill vectors.
        {"conv2d/input:1x112x112x64/kernel:3x3x64x64/strides:2x2/padding:1,1x1,1", "winograd_4"},
        {"conv2d/input:8x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "winograd_3"},
        {"conv2d/input:1x28x28x64/kernel:5x5x64x64/strides:2x2/padding:2,2x2,2", "winograd_4"},
        {"conv2d/input:1x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "winograd_2"},  // few tiles
        {"conv2d/input:1x160x160x24/kernel:3x3x24x48/strides:2x2/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x224x224x3/kernel:3x3x3x32/strides:2x2/padding:1,1x1,1", "direct"},
        {"conv2d/input:1x112x112x64/kernel:7x7x64x64/strides:2x2/padding:3,3x3,3", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4"},  // a block is a vector
        {"conv2d/input:1x224x224x8/kernel:7x7x8x64/strides:2x2/padding:3,3x3,3", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4", "avx2"},  // or two
        {"conv2d/input:1x224x224x3/kernel:11x11x3x64/strides:4x4/padding:2,2x2,2", "winograd_4", "avx2"},
        {"conv2d/input:1x224x224x3/kernel:5x5x3x32/strides:2x2/padding:2,2x2,2", "direct", "avx2"},
        {"conv2d/input:1x160x160x3/kernel:7x7x3x16/strides:2x2/padding:2,3x2,3", "direct", "avx2"},
        {"conv2d/input:1x112x112x64/kernel:9x9x64x64/strides:2x2/padding:4,4x4,4", "direct"},  // errors
        {"conv2d/input:1x112x112x64/kernel:1x3x64x64/strides:2x2/padding:0,0x1,1", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/special_values:exact", "direct"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/lhs_dilation:2x2", "phases"},
        {"conv2d_backprop_input/input:1x14x14x64/kernel:4x4x64x64/strides:2x2/padding:1,1x1,1", "phases"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/rhs_dilation:2x2/feature_group_count:32", "input_phases"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/rhs_dilation:2x2/feature_group_count:256", "direct"},
        {"conv2d/input:1x28x28x256/kernel:3x3x1x256/rhs_dilation:2x2/feature_group_count:256", "direct", "avx2"},
        {"conv2d/input:1x33x33x256/kernel:3x3x1x256/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:256",
         "input_phases", "avx2"},
        {"conv2d/input:1x33x33x256/kernel:3x3x1x256/padding:6,6x6,6/rhs_dilation:6x6/feature_group_count:256",
         "direct"},
        {"conv2d/input:1x100x100x16/kernel:3x3x1x16/padding:8,8x8,8/rhs_dilation:8x8/feature_group_count:16", "direct",
         "avx2"},
        {"conv2d/input:1x28x28x128/kernel:5x5x1x128/padding:4,4x4,4/rhs_dilation:2x2/feature_group_count:128",
         "input_phases", "avx2"},
        {"conv2d/input:1x28x28x128/kernel:5x5x1x128/padding:4,4x4,4/feature_group_count:128", "direct", "avx2"},
        {"conv2d/input:1x1x400x128/kernel:1x15x1x128/padding:0,0x14,14/rhs_dilation:1x2/feature_group_count:128",
         "direct", "avx2"},
        {"conv2d/input:1x28x28x256/kernel:3x3x8x256/feature_group_count:32", "direct"},
        {"conv2d/input:1x128x128x144/kernel:1x1x144x24/padding:1,1x1,1/depthwise:3x3", "separable"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_turned"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/input_layout:NCHW", "depthwise_rows"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_turned",
         "avx2"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/input_layout:NCHW/"
         "output_layout:NCHW16c",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/padding:2,2x2,2/rhs_dilation:2x2/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x40x40x120/kernel:5x5x1x120/padding:2,2x2,2/feature_group_count:120/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x40x40x9/kernel:5x5x1x9/padding:2,2x2,2/feature_group_count:9/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x64x64x64/kernel:5x5x1x64/padding:2,2x2,2/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x64x64x64/kernel:7x7x1x64/padding:3,3x3,3/feature_group_count:64/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_turned", "avx2"},
        {"conv2d/input:1x7x7x960/kernel:1x3x1x960/padding:0,0x1,1/feature_group_count:960/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x7x7x960/kernel:7x1x1x960/padding:3,3x0,0/feature_group_count:960/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/output_layout:NCHW", "direct", "avx2"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW", "depthwise_rows",
         "baseline"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/output_layout:NCHW", "depthwise_turned"},
        {"conv2d/input:1x28x28x64/kernel:5x5x1x64/feature_group_count:64/output_layout:NCHW", "direct"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/feature_group_count:144/output_layout:NCHW", "depthwise_rows"},
        {"conv2d/input:1x128x128x144/kernel:3x3x1x144/strides:2x2/feature_group_count:144/output_layout:NCHW",
         "direct"},
        {"conv2d/input:1x28x28x64/kernel:3x3x1x64/feature_group_count:64/input_layout:NCHW8c", "direct"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned"},
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/padding:2,2x2,2/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_turned"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "direct"},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/padding:2,2x2,2/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x14x14x480/kernel:7x7x1x480/padding:3,3x3,3/feature_group_count:480/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},  // each input is copied once for 49 taps
        {"conv2d/input:1x256x256x24/kernel:7x7x1x24/padding:3,3x3,3/feature_group_count:24/input_layout:NCHW8c/"
         "output_layout:NCHW8c",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // beyond L2
        {"conv2d/input:1x14x14x480/kernel:3x3x1x480/strides:2x2/padding:1,1x1,1/feature_group_count:480/"
         "input_layout:NCHW8c/output_layout:NCHW8c",
         "direct", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x32x32x192/kernel:5x5x1x192/strides:2x2/padding:2,2x2,2/feature_group_count:192/"
         "input_layout:NCHW/output_layout:NCHW",
         "depthwise_rows"},  // a row of results is a vector
        {"conv2d/input:1x12x12x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},  // a quarter of each vector would be empty
        {"conv2d/input:1x7x7x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // turned it loses where weights come from memory
        {"conv2d/input:1x14x14x200/kernel:5x5x1x200/padding:2,2x2,2/feature_group_count:200/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x24x24x192/kernel:7x7x1x192/padding:3,3x3,3/feature_group_count:192/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_turned", "x86-64-linux-avx512_zen5"},
        {"conv2d/input:1x32x32x192/kernel:9x9x1x192/padding:4,4x4,4/feature_group_count:192/input_layout:NCHW/"
         "output_layout:NCHW",
         "depthwise_rows", "x86-64-linux-avx512_zen5"},  // planes share sets of L1
        {"conv2d/input:1x28x28x64/kernel:3x3x2x64/feature_group_count:32/input_layout:NCHW", "direct"},
        {"conv2d/input:1x14x14x256/kernel:1x1x256x1024", "strassen", "x86-64-linux-avx512_zen5"},
        {"conv2d_backprop_kernel/input:1x14x14x64/kernel:3x3x64x64", "kernel_gradient"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "quantized",
         "x86-64-linux-avx512_zen4"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "quantized_winograd_3", "avx2"},
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx",
         "quantized_winograd_2", "avx2"},  // sums of more channels with the numbers of 3 might leave 32 bits
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx",
         "quantized_winograd_2", "avx2"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3/dtype:u8/epilogue:requantize_onnx",
         "quantized", "avx2"},
        {"conv2d/input:1x3x3x512/kernel:3x3x512x512/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx", "quantized",
         "avx2"},  // weights for few tiles
        // Three outputs of five taps would need a point that is a fraction: no rival.
        {"conv1d/input:1x400x64/kernel:5x64x64/padding:2,2/dtype:u8/epilogue:requantize_onnx", "quantized_winograd_2",
         "avx2"},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "matrix",
         "amx"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized_depthwise"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:u8/"
         "epilogue:requantize_onnx/kernel_dtype:u8",
         "quantized_depthwise", "avx2"},
        {"conv2d/input:1x12x12x1/kernel:3x3x1x1/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert", "quantized",
         "x86-64-linux-avx512_zen4"},  // one sum of few products
        {"conv2d/input:1x14x14x64/kernel:1x1x64x128/dtype:u8/epilogue:requantize_onnx", "quantized",
         "x86-64-linux-avx512_zen4"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x128/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized"},  // two outputs a channel
        {"conv2d/input:1x14x14x64/kernel:3x1x1x64/feature_group_count:64/dtype:i8/epilogue:requantize_litert",
         "quantized"},  // one column
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/input_layout:NCHW/"
         "epilogue:requantize_litert",
         "quantized"},
        {"conv2d/input:1x14x14x64/kernel:3x3x1x64/feature_group_count:64/dtype:i8/"
         "epilogue:requantize_onnx/kernel_zero_point:true",
         "quantized"},
        {"conv2d/input:1x186x186x7/kernel:8x11x7x128/strides:2x2/input_layout:NCHW", "space_to_depth_fused"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/epilogue:requantize_litert", "scalar_dense", "rv32im"},
        {"conv2d/input:1x49x10x1/kernel:10x4x1x64/dtype:i8/epilogue:requantize_litert", "scalar_dense", "rv32im"},
        {"conv2d/input:1x96x96x1/kernel:3x3x1x8/dtype:i8/epilogue:requantize_litert", "scalar_depthwise", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:3x3x1x64/feature_group_count:64/dtype:u8/epilogue:requantize_litert",
         "scalar_depthwise", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:3x3x2x64/feature_group_count:32/dtype:i8/epilogue:requantize_litert",
         "quantized", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/output_dtype:i32", "quantized", "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/input_layout:NCHW/epilogue:requantize_litert", "quantized",
         "rv32im"},
        {"conv2d/input:1x6x6x64/kernel:1x1x64x128/dtype:i8/epilogue:requantize_litert/kernel_zero_point:true",
         "quantized", "rv32im"},
    };
    for (const Row &row : rows) {
        const auto workload = parse_workload_key(row.key);
        ASSERT_TRUE(workload) << row.key << ": " << workload.error().message;
        const Target target = *parse_target(row.target, 1, avx512);
        Core with_races = core;
        const Core of_target = core_of(Machine(), target);
        with_races.gains_by_strassen = of_target.gains_by_strassen;
        with_races.shuffles_rows = of_target.shuffles_rows;
        const auto standard = default_candidate(*workload, target, with_races, default_error_budget);
        EXPECT_EQ(standard->algorithm, row.algorithm) << row.key;
        EXPECT_TRUE(check_candidate(*standard, *workload, target)) << row.key << ": " << to_text(*standard);
        EXPECT_EQ(by_preference(*workload, target, core, default_error_budget).size(), catalog().size());
    }
    for (const AlgorithmRule &rule : algorithm_rules()) {
        EXPECT_TRUE(find_algorithm(rule.algorithm)) << rule.algorithm;
        EXPECT_TRUE(
            std::any_of(std::begin(rows), std::end(rows), [&](const Row &r) { return r.algorithm == rule.algorithm; }))
            << rule.algorithm << " has no row here";
    }
}

// Where the first may not be used, the next rule that holds says what is.
TEST(Catalog, RulesThatHoldComeInTheirOrder) {
    const struct {
        const char *key, *target;
        std::vector<std::string> first;
        double error_budget = default_error_budget;
    } rows[] = {
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512", {"winograd_4", "direct", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/lhs_dilation:2x2", "avx512", {"phases", "direct"}},
        {"conv2d/input:1x14x14x480/kernel:5x5x1x480/strides:2x2/padding:2,2x2,2/feature_group_count:480/"
         "input_layout:NCHW/output_layout:NCHW",
         "avx512",
         {"depthwise_turned", "depthwise_rows", "direct"}},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3",
         "avx512",
         {"winograd_4", "direct", "phases"}},
        {"conv2d/input:1x186x186x7/kernel:8x11x7x128/strides:2x2/input_layout:NCHW",
         "avx512",
         {"space_to_depth_fused", "direct", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "amx",
         {"matrix", "quantized", "phases"}},
        {"conv2d/input:1x14x14x64/kernel:3x3x64x64/padding:1,1x1,1/dtype:i8/epilogue:requantize_litert",
         "avx2",
         {"quantized_winograd_3", "quantized", "phases"}},
        // A budget that Winograd may exceed: the next rule is first, and Winograd behind all that keep to the definition.
        {"conv2d/input:1x16x16x64/kernel:3x3x64x64/padding:1,1x1,1", "avx512", {"direct", "phases"}, 1e-6},
    };
    for (const auto &row : rows) {
        const auto order =
            by_preference(*parse_workload_key(row.key), *parse_target(row.target, 1, avx512), core, row.error_budget);
        ASSERT_EQ(order.size(), catalog().size());
        std::vector<std::string> first;
        for (size_t i = 0; i < row.first.size(); i++) first.emplace_back(order[i]->name);
        EXPECT_EQ(first, row.first) << row.key;
    }
}

// One column of rows, or of planes, is one row of columns: tiles have columns side by side.
TEST(Catalog, ImagesOfOneColumnHaveTheDefaultsOfOneRow) {
    const struct {
        const char *column, *row;
    } table[] = {
        {"conv2d/input:1x1000x1x64/kernel:9x1x64x8", "conv1d/input:1x1000x64/kernel:9x64x8"},
        {"conv2d/input:1x400x1x64/kernel:3x1x64x64/padding:1,1x0,0",
         "conv1d/input:1x400x64/kernel:3x64x64/padding:1,1"},
        {"conv3d/input:1x400x1x1x64/kernel:3x1x1x64x64", "conv1d/input:1x400x64/kernel:3x64x64"},
        {"conv3d/input:1x20x30x1x64/kernel:3x3x1x64x64", "conv2d/input:1x20x30x64/kernel:3x3x64x64"},
        {"conv2d/input:1x90x1x64/kernel:5x1x1x64/strides:2x3/feature_group_count:64",
         "conv1d/input:1x90x64/kernel:5x1x64/strides:2/feature_group_count:64"},
        {"conv2d/input:1x90x1x3/kernel:5x1x3x64/dtype:u8/epilogue:requantize_onnx",
         "conv1d/input:1x90x3/kernel:5x3x64/dtype:u8/epilogue:requantize_onnx"},
        {"conv2d_backprop_kernel/input:1x90x1x8/kernel:5x1x8x64", "conv1d_backprop_kernel/input:1x90x8/kernel:5x8x64"},
    };
    for (const auto &pair : table) {
        for (const char *name : {"avx2", "avx512"}) {
            const Target target = *parse_target(name, 1, avx512);
            const auto of = [&](const char *text) {
                const auto w = parse_workload_key(text);
                EXPECT_TRUE(w) << text << ": " << w.error().message;
                return to_text(*default_candidate(*w, target, core, default_error_budget));
            };
            EXPECT_EQ(of(pair.column), of(pair.row)) << pair.column << " " << name;
        }
    }
}

// Transformed weights are larger than those of direct sums, and come more slowly to CPUs with two wide multipliers.
TEST(Catalog, LargeWeightsDecideByTheRateOfMemory) {
    const struct {
        const char *key, *two_multipliers, *zen4;
    } table[] = {
        {"conv2d/input:1x14x14x256/kernel:3x3x256x256/padding:1,1x1,1", "winograd_3", "winograd_5"},
        {"conv2d/input:1x13x13x160/kernel:3x3x160x320/padding:1,1x1,1", "winograd_3", "winograd_5"},
        {"conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1", "winograd_4", "winograd_4"},
        {"conv2d/input:1x28x28x512/kernel:3x3x512x512/padding:1,1x1,1", "winograd_4", "winograd_4"},
        {"conv2d/input:1x56x56x128/kernel:3x3x128x128/strides:2x2/padding:1,1x1,1", "direct", "winograd_4"},
        {"conv2d/input:1x28x28x256/kernel:3x3x256x256/strides:2x2/padding:1,1x1,1", "direct", "winograd_3"},
        {"conv2d/input:1x224x224x3/kernel:7x7x3x64/strides:2x2/padding:3,3x3,3", "winograd_4", "winograd_4"},
        {"conv2d/input:1x224x224x3/kernel:11x11x3x64/strides:4x4/padding:5,5x5,5", "winograd_4", "winograd_4"},
    };
    Machine machine;
    machine.l2_bytes = 2 << 20, machine.l3_bytes = 260 << 20;
    for (const auto &row : table) {
        const Workload w = *parse_workload_key(row.key);
        for (const auto &[name, algorithm] : {std::pair{"avx512vnni", row.two_multipliers}, {zen4_target, row.zen4}}) {
            const Target target = *parse_target(name, 1, "");
            const auto candidate = default_candidate(w, target, core_of(machine, target), default_error_budget);
            EXPECT_EQ(candidate->algorithm, algorithm) << row.key << " " << name;
        }
    }
}

// With 16 registers, some images have no register tile that divides their tiles and keeps the multipliers busy.
TEST(Catalog, RegisterTilesDecideAmongTileSizes) {
    const struct {
        const char *layer, *zen2, *zen3;
    } table[] = {
        {"28x28x128/kernel:3x3x128x128", "winograd_5", "winograd_5"},  // six tiles a row for seven
        {"28x28x64/kernel:3x3x64x96", "winograd_4", "winograd_4"},
        {"56x56x64/kernel:3x3x64x64", "winograd_4", "winograd_4"},
        {"40x40x64/kernel:3x3x64x64", "winograd_4", "winograd_4"},
        {"40x40x96/kernel:3x3x96x96", "winograd_5", "winograd_5"},
        {"75x101x128/kernel:3x3x128x128", "winograd_5", "winograd_5"},
        {"300x161x128/kernel:3x3x128x64", "winograd_5", "winograd_5"},
        {"300x161x64/kernel:3x3x64x64", "winograd_5", "winograd_5"},
        {"35x35x96/kernel:3x3x96x96", "winograd_5", "winograd_4"},
        {"14x14x256/kernel:3x3x256x256", "winograd_4", "winograd_5"},  // weights from memory
        {"12x12x512/kernel:3x3x512x512", "winograd_3", "winograd_4"},
    };
    const Target target = *parse_target("avx2", 1, "");
    for (const auto &row : table) {
        const Workload w = *parse_workload_key("conv2d/input:1x" + std::string(row.layer) + "/padding:1,1x1,1");
        const auto on = [&](const Machine &machine) {
            return default_candidate(w, target, core_of(machine, target), default_error_budget)->algorithm;
        };
        EXPECT_EQ(on(machine_of_zen2()), row.zen2) << row.layer;
        EXPECT_EQ(on(machine_of_zen3()), row.zen3) << row.layer;
    }
}

// Halide took a second for the first one, and more than a minute for the other.
TEST(Catalog, SumsSpreadNoMoreThanCompiles) {
    const Workload w =
        *parse_workload_key("conv2d/input:1x9x10x48/kernel:3x3x8x48/strides:2x2/padding:1,1x1,1/feature_group_count:6");
    const Target target = *parse_target("avx512", 1, "");
    const std::string
        before =
            "direct@1/cpu_tile@2/lanes:16/panel_block:1/pixels:5/row_block:2/rows:1/share_rows:0/skip_rows:1/"
            "spread:1/stage_input:1/unroll:",
        behind = "/unroll_columns:1/unroll_rows:0/unroll_tiles:1/vectors:3/x_block:1";
    const Status accepted = check_candidate(*parse_candidate(before + "4" + behind), w, target);
    EXPECT_TRUE(accepted) << accepted.error().message;
    const Status refused = check_candidate(*parse_candidate(before + "8" + behind), w, target);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("are too much code"), std::string::npos) << refused.error().message;
}

// Each of four tiles that are all of a row is at the border or is not; of two, the left one is so in one block only. Halide takes
// 17 s for the first candidate; for blocks of four among five it took three minutes.
TEST(Catalog, TilesOfWholeRowsAreUnrolledMore) {
    const Target target = *parse_target("avx2", 1, "");
    const std::string before =
        "direct@1/cpu_tile@2/panel_block:1/pixels:4/row_block:1/rows:2/share_rows:0/skip_rows:0/"
        "stage_input:0/unroll:1/unroll_columns:1/unroll_rows:1/unroll_tiles:1/vectors:1/x_block:";
    const Workload w =
        *parse_workload_key("conv2d/input:1x16x16x7/kernel:11x11x1x7/padding:5,5x5,5/feature_group_count:7");
    EXPECT_TRUE(check_candidate(*parse_candidate(before + "4"), w, target));
    const Status refused = check_candidate(*parse_candidate(before + "2"), w, target);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("too much code"), std::string::npos) << refused.error().message;
}

TEST(Catalog, TightErrorBudgetsPutOffWhatReassociates) {
    const Target target = *parse_target("avx512", 1, avx512);
    const Workload w = convolution({1, 14, 14, 64}, {3, 3, 64, 64});
    struct Row {
        double error_budget;
        const char *algorithm;
    };
    for (const Row &row :
         {Row{1e-2, "winograd_4"}, Row{1e-5, "winograd_4"}, Row{9e-6, "direct"}, Row{1e-6, "direct"}}) {
        EXPECT_EQ(default_candidate(w, target, core, row.error_budget)->algorithm, row.algorithm) << row.error_budget;
        bool put_off = false;
        for (const Algorithm *a : by_preference(w, target, core, row.error_budget)) {
            EXPECT_FALSE(row.error_budget < default_error_budget && put_off && !a->reassociates) << a->name;
            put_off |= a->reassociates;
        }
    }
}

TEST(Catalog, ChecksRecordedCandidates) {
    const Target target = *parse_target("avx512", 1, avx512);
    const Workload w = convolution({1, 14, 14, 256}, {1, 1, 256, 64});
    const Candidate good = *default_candidate(w, target, core, default_error_budget);
    EXPECT_TRUE(check_candidate(good, w, target));
    Candidate bad = good;
    bad.algorithm = "fft";
    EXPECT_FALSE(check_candidate(bad, w, target));
    bad = good;
    bad.algorithm_version = 99;
    EXPECT_FALSE(check_candidate(bad, w, target));
    bad = good;
    bad.knobs["pixels"] = 1000;
    EXPECT_FALSE(check_candidate(bad, w, target));
}

TEST(Catalog, ReasonsOfManyAlgorithmsAreToldWithoutTheirNames) {
    struct Row {
        std::vector<std::pair<const char *, const char *>> refused;  // algorithm, reason
        const char *text;
    };
    const Row rows[] = {
        {{}, ""},
        {{{"direct", "no"}}, "direct: no"},
        {{{"a", "no"}, {"b", "no"}}, "no"},
        {{{"a", "no"}, {"b", "never"}, {"c", "no"}}, "a, c: no; b: never"},
        {{{"a", "no"}, {"b", "no"}, {"c", "no"}, {"d", "no"}, {"e", "no"}, {"f", "never"}},
         "a, b, c, d, e: no; f: never"},
        {{{"a", "no"}, {"b", "never"}, {"c", "no"}, {"d", "no"}, {"e", "no"}, {"f", "no"}, {"g", "no"}},
         "6 algorithms: no; b: never"},
    };
    for (const Row &row : rows) {
        Refusals refusals;
        for (const auto &[algorithm, reason] : row.refused) refusals.add(algorithm, reason);
        EXPECT_EQ(refusals.text(), row.text);
    }
}

// A soft core has one reason for all that is no work of integers.
TEST(Catalog, WhatASoftCoreRefusesIsOneSentence) {
    const Target target{"riscv-32-noos", 1};
    const auto refused = default_candidate(convolution({1, 8, 8, 4}, {3, 3, 4, 8}), target, core, default_error_budget);
    ASSERT_FALSE(refused);
    EXPECT_LT(refused.error().message.size(), 120u) << refused.error().message;
}

}  // namespace
}  // namespace kiln
