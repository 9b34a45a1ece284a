// Winograd convolutions in integers: equal to the definition, whatever the operands.
#include <string>
#include <vector>

#include "tests/generators/built_kernels.h"
#include "tests/generators/tensor_elements.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

class QuantizedWinogradKernels : public BuiltKernels {
protected:
    std::vector<const Algorithm *> applying(const Workload &workload, const Target &target) const {
        std::vector<const Algorithm *> all;
        for (const char *name : {"quantized_winograd_2", "quantized_winograd_3"}) {
            if (find_algorithm(name)->applies(workload, target)) all.push_back(find_algorithm(name));
        }
        return all;
    }

    // Bytes that repeat `pattern`.
    static void fill(Tensor *tensor, const std::vector<int> &pattern) {
        for (size_t i = 0; i < tensor->data.size(); i++) tensor->data[i] = std::byte(pattern[i % pattern.size()]);
    }
};

// Channels that fill no vector, one channel, tiles that do not fill the image, uneven and negative padding, flat and tall
// windows, strides, dilations, ranks, batches, layouts, results, both rules of requantization.
TEST_F(QuantizedWinogradKernels, AwkwardShapes) {
    constexpr const char *rows[] = {
        "conv2d/input:1x9x9x32/kernel:3x3x32x40/padding:1,1x1,1/dtype:i8/epilogue:bias,requantize_litert",
        "conv2d/input:2x13x11x17/kernel:3x3x17x7/padding:1,1x1,1/dtype:u8/epilogue:requantize_onnx",
        "conv2d/input:1x7x8x1/kernel:3x3x1x9/padding:1,1x0,2/dtype:u8/output_dtype:i32/epilogue:bias",
        "conv2d/input:1x8x11x20/kernel:3x3x20x24/padding:1,1x1,1/dtype:i8/output_dtype:u8/output_layout:NCHW/"
        "epilogue:requantize_onnx,add",
        "conv2d/input:1x9x9x12/kernel:3x3x12x20/padding:-1,2x1,1/dtype:i8/input_layout:NCHW/output_layout:NCHW8c/"
        "kernel_layout:HWOI/epilogue:requantize_litert",
        "conv2d/input:1x12x10x36/kernel:3x3x36x33/padding:2,2x2,2/dtype:u8/input_layout:NCHW16c/"
        "epilogue:bias,requantize_litert,add",
        "conv2d/input:1x17x17x16/kernel:1x3x16x16/padding:0,0x1,1/dtype:u8/epilogue:requantize_onnx",
        "conv2d/input:1x17x6x16/kernel:2x1x16x16/padding:1,0x0,0/dtype:i8/output_dtype:i32",
        "conv2d/input:2x15x13x20/kernel:3x3x20x24/strides:2x2/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx",
        "conv2d/input:1x14x16x32/kernel:3x3x32x24/strides:2x2/padding:0,1x0,1/dtype:i8/epilogue:requantize_litert",
        "conv2d/input:1x17x21x3/kernel:7x7x3x16/strides:2x2/padding:3,3x2,3/dtype:u8/epilogue:requantize_onnx",
        "conv2d/input:1x12x15x17/kernel:3x4x17x9/strides:1x3/padding:1,0x1,2/dtype:u8/output_dtype:i32",
        "conv2d/input:1x11x12x18/kernel:3x3x18x17/padding:2,2x1,2/rhs_dilation:2x1/dtype:i8/"
        "epilogue:bias,requantize_onnx",
        "conv2d/input:1x13x12x16/kernel:3x3x16x24/strides:2x2/padding:2,2x2,2/rhs_dilation:2x3/dtype:i8/"
        "output_layout:NCHW/epilogue:requantize_litert",
        "conv1d/input:2x50x12/kernel:4x12x20/padding:2,2/dtype:i8/epilogue:requantize_litert",
        "conv3d/input:2x4x6x5x8/kernel:1x3x3x8x9/padding:0,0x1,1x1,1/dtype:u8/epilogue:requantize_onnx",
        "conv2d/input:1x9x9x12/kernel:3x3x12x20/padding:1,1x1,1/dtype:u8/epilogue:bias,requantize_onnx/kernel_dtype:u8",
    };
    const std::pair<const char *, int> targets[] = {
        {"baseline", 1}, {"avx2", 1}, {"avx512", 1}, {"host", 1}, {"host", 3}};
    Rng rng(test_seed());
    for (size_t i = 0; i < std::size(rows); i++) {
        const auto &[name, threads] = targets[(i + test_seed()) % std::size(targets)];
        const Target target = *parse_target(name, threads, machine_.halide_target);
        if (!missing_features(target, machine_.halide_target).empty()) continue;
        const Workload w = *parse_workload_key(rows[i]);
        const auto algorithms = applying(w, target);
        ASSERT_FALSE(algorithms.empty()) << rows[i];
        const Algorithm &algorithm = *algorithms[(i + test_seed() / 5) % algorithms.size()];
        const Space space = algorithm.space(w, target, core_of(machine_, target));
        std::vector<Candidate> candidates{space.default_candidate()};
        if (is_turn(i)) {
            const auto drawn = space.sample(rng);
            ASSERT_TRUE(drawn) << rows[i];
            candidates.push_back(*drawn);
        }
        for (const Candidate &c : candidates)
            EXPECT_EQ(problem(w, target, c), "") << rows[i] << " " << to_text(target) << " " << to_text(c);
    }
}

// As many channels as each applies to, and operands that take each sum and each transformed number as far as it goes: signs that
// alternate as those of the transforms do, and zero points at the ends.
TEST_F(QuantizedWinogradKernels, Extremes) {
    struct Row {
        const char *algorithm, *key;
    };
    constexpr Row rows[] = {
        {"quantized_winograd_2", "conv2d/input:1x6x6x1827/kernel:3x3x1827x8/padding:1,1x1,1/dtype:u8/output_dtype:i32"},
        {"quantized_winograd_3", "conv2d/input:1x6x6x203/kernel:3x3x203x8/padding:1,1x1,1/dtype:i8/output_dtype:i32"},
    };
    const Target target = *parse_target("host", 1, machine_.halide_target);
    for (const Row &row : rows) {
        const Workload w = *parse_workload_key(row.key);
        const Algorithm &algorithm = *find_algorithm(row.algorithm);
        ASSERT_TRUE(algorithm.applies(w, target));
        const int lo = w.dtype == DType::i8 ? -128 : 0, hi = lo + 255, channels = static_cast<int>(w.kernel[2]);
        const auto candidate = algorithm.space(w, target, core_of(machine_, target)).default_candidate();
        for (const auto &[zero_point, far] : {std::pair{lo, hi}, std::pair{hi, lo}}) {
            for (const bool alternates : {false, true}) {
                Operands operands = make_operands(w, Data::ordinary, 1);
                std::vector<int> pixels;  // one column and the next, of all channels each
                for (int i = 0; i < 2 * channels; i++) pixels.push_back(alternates && i >= channels ? zero_point : far);
                fill(&operands.first, pixels);
                fill(&operands.second, alternates ? std::vector<int>{-128, 127} : std::vector<int>{-128});
                set<int32_t>(operands.input_zero_point, 0, zero_point);
                const auto expected = reference(w, operands);
                ASSERT_TRUE(expected) << expected.error().message;
                const auto got = result_of(w, target, candidate, operands);
                ASSERT_TRUE(got) << got.error().message;
                for (int64_t i = 0; i < got->elements(); i++) {
                    ASSERT_EQ(get<int32_t>(*got, i), expected->expected[size_t(i)])
                        << row.key << " " << result_position(w, i);
                }
            }
        }
    }
}

}  // namespace
}  // namespace kiln
