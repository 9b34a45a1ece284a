// Products of matrices in tile registers (AMX): judged where the machine has these registers, and elsewhere built.
#include <gtest/gtest.h>

#include <string>

#include "tests/generators/built_kernels.h"

namespace kiln {
namespace {

class MatrixKernels : public BuiltKernels {
protected:
    Target target(int threads) const { return *parse_target("amx", threads, machine_.halide_target); }

    // The default and a drawn candidate.
    std::vector<Candidate> candidates(const Workload &workload, const Target &target) {
        const Algorithm &algorithm = *find_algorithm("matrix");
        EXPECT_TRUE(algorithm.applies(workload, target)) << key(workload);
        const Space space = algorithm.space(workload, target, core_of(machine_, target));
        return {space.default_candidate(), *space.sample(rng_)};
    }

    Rng rng_{test_seed()};
};

// Channels that fill one product, several, and none; outputs and positions that do not fill tiles; rows whose ends lie within a
// tile; strides, whose blocks of pixels are channels; padding on one side; images of one row; a batch; bf16, whose channels that
// fill up a product must be zeros; what padding cuts off in front, of a row and of planes, and a plane of padding.
constexpr const char *shapes[] = {
    "conv2d/input:1x56x56x64/kernel:1x1x64x64/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x14x14x256/kernel:3x3x256x32/padding:1,1x1,1/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x9x7x24/kernel:3x3x24x37/padding:1,1x1,1/dtype:i8/epilogue:bias,requantize_onnx",
    "conv2d/input:2x9x7x68/kernel:5x3x68x20/padding:2,1x1,0/dtype:u8/output_dtype:i32",
    "conv2d/input:1x28x28x32/kernel:3x3x32x48/strides:2x2/padding:0,1x0,1/dtype:u8/epilogue:bias,requantize_onnx",
    "conv2d/input:1x15x13x96/kernel:1x1x96x24/strides:2x2/dtype:i8/output_dtype:u8/epilogue:requantize_litert",
    "conv2d/input:1x21x19x3/kernel:7x7x3x20/strides:2x2/padding:3,3x3,3/dtype:u8/epilogue:bias,requantize_litert",
    "conv2d/input:1x12x17x40/kernel:3x5x40x16/strides:1x3/padding:-1,2x3,-2/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x1x1x130/kernel:1x1x130x10/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x3x2x5/kernel:4x4x5x3/padding:3,2x2,3/dtype:u8/epilogue:bias,requantize_onnx",
    "conv1d/input:2x39x40/kernel:5x40x33/padding:2,2/dtype:i8/epilogue:bias,requantize_litert",
    "conv2d/input:1x14x14x80/kernel:1x1x80x24/dtype:u8/kernel_layout:HWOI/epilogue:bias,requantize_onnx/"
    "kernel_dtype:u8",
    "conv2d/input:1x8x8x64/kernel:1x1x64x64/dtype:i8/epilogue:bias,requantize_litert,add",
    "conv2d/input:1x14x12x64/kernel:3x3x64x48/padding:1,1x1,1/dtype:bf16/output_dtype:f32/epilogue:bias,relu",
    "conv2d/input:1x8x8x32/kernel:1x1x32x20/dtype:bf16/epilogue:add",
    "conv2d/input:2x9x11x37/kernel:3x2x37x17/strides:2x1/padding:1,0x1,1/dtype:bf16/kernel_layout:HWOI",
    "conv2d/input:1x5x5x1/kernel:3x3x1x5/padding:1,1x1,1/dtype:bf16",
    "conv1d/input:1x48x64/kernel:1x64x16/padding:-16,-16/dtype:i8/output_dtype:i32",
    "conv1d/input:1x48x64/kernel:1x64x16/padding:0,-32/dtype:i8/output_dtype:i32",
    "conv3d/input:1x2x4x5x64/kernel:1x3x3x64x16/padding:-1,0x1,1x1,1/dtype:i8/output_dtype:i32",
    "conv3d/input:1x1x4x5x64/kernel:1x3x3x64x16/padding:1,-1x1,1x1,1/dtype:u8/output_dtype:i32",
};

TEST_F(MatrixKernels, AreRight) {
    if (!runs(target(1))) GTEST_SKIP() << "this CPU has no AMX; MatrixKernels.AreBuilt builds them";
    for (const int threads : {1, 3}) {
        for (const char *text : shapes) {
            const auto workload = parse_workload_key(text);
            ASSERT_TRUE(workload) << text << workload.error().message;
            for (const Candidate &candidate : candidates(*workload, target(threads)))
                EXPECT_EQ(problem(*workload, target(threads), candidate), "") << text << " " << to_text(candidate);
        }
    }
}

// What is compiled differs little with the number of threads, so one is enough where nothing runs.
TEST_F(MatrixKernels, AreBuilt) {
    if (runs(target(1))) GTEST_SKIP() << "MatrixKernels.AreRight builds them, too";
    for (const char *text : shapes) {
        const auto workload = parse_workload_key(text);
        ASSERT_TRUE(workload) << text << workload.error().message;
        for (const Candidate &candidate : candidates(*workload, target(1))) {
            const auto built = build(*workload, target(1), candidate);
            EXPECT_TRUE(built) << text << " " << to_text(candidate) << ": " << built.error().message;
        }
    }
}

}  // namespace
}  // namespace kiln
