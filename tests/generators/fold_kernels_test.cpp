// Convolutions by the space-to-depth rewrite, folded in the kernel and prepared: every way to fold, built by the real
// generator and judged by the real runner against the reference loops.
#include <gtest/gtest.h>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class FoldKernels : public BuiltKernels {
protected:
    void expect_right(const char *key, const char *algorithm, const Target &target, int draws) {
        const auto w = parse_workload_key(key);
        ASSERT_TRUE(w) << w.error().message;
        const Algorithm *a = find_algorithm(algorithm);
        ASSERT_TRUE(a->applies(*w, target)) << key << " " << a->applies(*w, target).error().message;
        const Space space = a->space(*w, target, core_of(machine_, target));
        std::vector<Candidate> candidates{space.default_candidate()};
        for (int i = 0; i < draws; i++) {
            const auto drawn = space.sample(rng_);
            ASSERT_TRUE(drawn) << key;
            candidates.push_back(*drawn);
        }
        for (const Candidate &candidate : candidates) {
            EXPECT_EQ(problem(*w, target, candidate), "") << key << " " << to_text(candidate);
        }
    }

    Rng rng_{test_seed()};
};

// Odd windows, images that blocks do not divide, crops, strides apart, every layout, rank, dtype and an epilogue.
constexpr const char *folded[] = {
    "conv2d/input:1x31x29x3/kernel:7x7x3x40/strides:2x2/padding:3,3x3,3/epilogue:bias,relu",
    "conv2d/input:1x21x19x3/kernel:7x7x3x20/strides:2x2/padding:3,3x3,3/epilogue:bias,prelu",
    "conv2d/input:2x24x28x3/kernel:7x7x3x16/strides:2x2/padding:3,3x3,3/input_layout:NCHW/output_layout:NCHW",
    "conv2d/input:1x33x31x3/kernel:7x7x3x8/strides:2x2/padding:2,3x3,2/dtype:f16/output_dtype:f32",
    "conv2d/input:1x43x39x3/kernel:11x11x3x16/strides:4x4/padding:2,2x-1,2/input_layout:NCHW16c/kernel_layout:HWOI",
    "conv2d/input:1x21x16x20/kernel:5x3x20x8/strides:2x1/padding:2,2x1,1/input_layout:NCHW8c/output_layout:NCHW16c",
    "conv2d/input:1x30x22x2/kernel:7x5x2x8/strides:4x2/padding:1,4x0,3/dtype:bf16/input_layout:NCHW",
    "conv2d/input:1x32x48x3/kernel:8x8x3x12/strides:8x8",
    "conv2d/input:1x15x15x1/kernel:3x3x1x20/strides:3x2",
    "conv1d/input:2x61x3/kernel:9x3x8/strides:4/padding:4,4",
    "conv3d/input:1x9x8x10x3/kernel:3x3x3x3x6/strides:2x2x2/padding:1,1x1,0x0,1",
    "conv3d/input:1x5x12x13x3/kernel:3x7x7x3x8/strides:1x2x2/padding:1,1x3,3x3,3/kernel_layout:HWOI",
};

// The same for the gradient of the kernel.
constexpr const char *gradients[] = {
    "conv2d_backprop_kernel/input:1x31x29x3/kernel:7x7x3x40/strides:2x2/padding:3,3x3,3",
    "conv2d_backprop_kernel/input:2x24x28x3/kernel:7x7x3x16/strides:2x2/padding:3,3x2,3/input_layout:NCHW/"
    "output_layout:NCHW",
    "conv2d_backprop_kernel/input:1x43x39x3/kernel:11x11x3x16/strides:4x4/padding:2,2x-1,2/input_layout:NCHW16c/"
    "kernel_layout:HWOI",
    "conv2d_backprop_kernel/input:1x32x48x3/kernel:8x8x3x12/strides:8x8/dtype:bf16/output_dtype:f32",
    "conv1d_backprop_kernel/input:2x61x3/kernel:9x3x8/strides:4/padding:4,4",
    "conv3d_backprop_kernel/input:1x9x8x10x3/kernel:3x3x3x3x6/strides:2x2x2/padding:1,1x1,0x0,1",
};

TEST_F(FoldKernels, GradientsOfTheKernel) {
    for (size_t i = 0; i < std::size(gradients); i++) {
        const int threads = (i + test_seed()) % 3 == 0 ? 3 : 1;
        const Target target = *parse_target("host", threads, machine_.halide_target);
        expect_right(gradients[i], "space_to_depth_kernel_gradient", target, 1);
    }
}

TEST_F(FoldKernels, OnThisMachine) {
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (size_t i = 0; i < std::size(folded); i++) {
        const bool draws = (i + test_seed()) % 2;
        expect_right(folded[i], "space_to_depth_fused", target, draws);
        expect_right(folded[i], "space_to_depth_prepared", target, !draws);
    }
}

TEST_F(FoldKernels, OnOtherTargetsAndThreads) {
    const std::pair<const char *, int> targets[] = {{"baseline", 1}, {"avx2", 1}, {"host", 3}};
    size_t tried = 0;
    for (size_t i = 0; i < std::size(folded); i++) {
        const auto &[name, threads] = targets[(i + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (!adds_to_host(target)) continue;
        expect_right(folded[i], i % 2 ? "space_to_depth_fused" : "space_to_depth_prepared", target, 0);
        tried++;
    }
    EXPECT_GE(tried, std::size(folded) / 3 * 2);  // all but those for AVX2, where that is the host or is missing
}

}  // namespace
}  // namespace kiln
