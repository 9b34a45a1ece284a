// The activations of epilogues in kernels: how accurate their functions are by themselves, over all magnitudes, beyond what the
// errors of a sum allow.
#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/generators/built_kernels.h"
#include "tests/generators/tensor_elements.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"

namespace kiln {
namespace {

class ActivationKernels : public BuiltKernels {};

// From 1e-30 to 3e38 with both signs, and close to where functions bend.
std::vector<float> arguments(size_t count) {
    std::vector<float> values{0, 3e38f, 3e9f, -3e9f, -3e38f, 88, -88, 89, -89, 127, -127};
    for (int i = 0; i <= 1600; i++) values.push_back(static_cast<float>(i - 800) / 80);
    for (double size = 1e-30; size < 1e37; size *= 1.15) {
        values.push_back(static_cast<float>(size));
        values.push_back(static_cast<float>(-size));
    }
    values.resize(count);
    return values;
}

TEST_F(ActivationKernels, AreAccurateOnAllMagnitudes) {
    for (const EpilogueForm &form : epilogue_forms()) {
        if (form.operand != EpilogueForm::Operand::none || form.requantizes()) continue;
        // One channel and a weight of 1: the sum is the input. 4097 pixels end in elements that fill no vector.
        Workload w = convolution({1, 1, 4097, 1}, {1, 1, 1, 1});
        w.epilogue = {{form.kind, 0.25f, 0.5f}};
        Operands operands = make_operands(w, Data::ordinary, 1);
        const std::vector<float> values = arguments(4097);
        for (size_t i = 0; i < values.size(); i++) set(operands.first, static_cast<int64_t>(i), values[i]);
        set(operands.second, 0, 1.0f);
        const auto expected = reference(w, operands);
        ASSERT_TRUE(expected);
        for (const char *name : {"host", "baseline"}) {
            const Target target = *parse_target(name, 1, machine_.halide_target);
            const auto untuned = default_candidate(w, target, core_of(machine_, target), default_error_budget);
            ASSERT_TRUE(untuned);
            const auto got = result_of(w, target, *untuned, operands);
            ASSERT_TRUE(got) << key(w) << ": " << got.error().message;
            for (size_t i = 0; i < values.size(); i++) {
                const double value = get<float>(*got, static_cast<int64_t>(i)), right = expected->expected[i];
                const double size = std::min(std::fabs(static_cast<double>(values[i])), 10.0) + std::fabs(right);
                ASSERT_LE(std::fabs(value - right), 5e-7 * size)
                    << name << ": " << kiln::name(w.epilogue[0]) << " of " << values[i] << " is " << value
                    << ", expected " << right;
            }
        }
    }
}

// The expression of a chain is a graph with many paths.
TEST_F(ActivationKernels, LongChains) {
    const auto w = parse_workload_key(
        "conv2d/input:1x5x6x9/kernel:3x3x9x20/epilogue:gelu,gelu_tanh,silu,gelu,tanh,gelu,hard_swish,gelu_tanh");
    ASSERT_TRUE(w) << w.error().message;
    const Target target = *parse_target("host", 1, machine_.halide_target);
    const auto untuned = default_candidate(*w, target, core_of(machine_, target), default_error_budget);
    ASSERT_TRUE(untuned);
    EXPECT_EQ(problem(*w, target, *untuned), "");
}

}  // namespace
}  // namespace kiln
