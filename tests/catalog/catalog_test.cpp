#include "catalog/catalog.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/quantized_algorithm.h"
#include "tests/drawn_workloads.h"
#include "tests/target_names.h"
#include "tests/test_seed.h"
#include "workload/signature.h"

namespace kiln {
namespace {

constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

const Core core;

// Machines whose caches or latencies differ. A generator knows none of them.
std::vector<Machine> unlike_machines() {
    std::vector<Machine> machines(4);
    machines[1].l2_bytes = 512 << 10, machines[1].l3_bytes = 32 << 20;
    machines[2].l1_bytes = 48 << 10, machines[2].l2_bytes = 2 << 20, machines[2].l3_bytes = 260 << 20;
    machines[3].l1_bytes = 16 << 10, machines[3].l2_bytes = 128 << 10, machines[3].l3_bytes = 0;
    machines.push_back(machine_of_zen2());
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
    // Nothing is computed, so they may be as large as layers of networks; small ones have the most padding.
    ConvolutionDrawer large(test_seed(), {70, 300, int64_t{1} << 40, int64_t{1} << 40}), small(test_seed());
    const std::vector<Machine> machines = unlike_machines();
    size_t computed = 0;
    for (int i = 0; i < 400; i++) {
        ConvolutionDrawer &drawer = i % 4 == 0 ? small : large;
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

// Depthwise layers of all sizes, from one cache to beyond all, whose taps are side by side or far apart.
TEST(Catalog, DefaultsOfDilatedDepthwiseLayersLieInTheirSpace) {
    ConvolutionDrawer drawer(test_seed());
    const auto draw = [&](int64_t lo, int64_t hi) { return std::to_string(drawer.draw(lo, hi)); };
    for (int i = 0; i < 100; i++) {
        const std::string channels = draw(2, 1200), side = draw(13, 130), taps = draw(2, 5), pad = draw(0, 12);
        const std::string text = "conv2d/input:1x" + side + "x" + side + "x" + channels + "/kernel:" + taps + "x3x1x" +
                                 channels + "/padding:" + pad + "," + pad + "x6,6/feature_group_count:" + channels;
        auto w = parse_workload_key(text);
        ASSERT_TRUE(w) << text << ": " << w.error().message;
        w->rhs_dilation = {drawer.draw(1, 3), drawer.draw(1, 6)};
        for (const char *name : {"baseline", "avx2", "avx512"}) {
            for (const Machine &machine : {machine_of_zen2(), machine_of_zen3()})
                expect_in_space(*w, *parse_target(name, 1, avx512), machine, drawer.rng());
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
// whose input is turned are unrolled; tiles between the edges of taps, or of one row, would have too few sums.
TEST(Catalog, DefaultsOfFewTilesLieInTheirSpace) {
    const Target target = *parse_target("avx2", 1, avx512);
    Rng rng(test_seed());
    for (const char *key :
         {"conv2d/input:2x8x7x4/kernel:3x1x4x1/strides:1x3/padding:0,3x2,0/dtype:u8/input_layout:NCHW/"
          "epilogue:bias,requantize_litert,add/kernel_zero_point:true",
          "conv2d/input:1x5x3x17/kernel:5x7x1x17/strides:3x4/padding:2,2x3,3/feature_group_count:17/"
          "input_layout:NCHW8c/output_layout:NCHW8c",
          "conv2d_backprop_input/input:1x68x42x3/kernel:8x3x3x8/padding:8,4x3,15/rhs_dilation:2x7",
          "conv2d_backprop_input/input:1x2x3x4/kernel:5x5x4x3",
          "conv2d/input:1x2x2x4/kernel:2x2x4x8/padding:2,2x2,2/rhs_dilation:4x4"})
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
        {"conv2d/input:1x9x9x12/kernel:1x1x12x8/dtype:f16/input_layout:NCHW6c/depthwise:3x3",
         "blocks of 6 channels, of halves"},
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
