// What a convolution does with a sum before it is converted to output_dtype and stored: steps, in order. Some of them may also be
// steps of a prologue, which is what a convolution does with each element of its input before it multiplies it.
//
// A step is a function of the sum and either of numbers of its own or of an operand. Its row in step.cpp says all of it: keys,
// lists, the C interface, checks, the reference, kernels and networks follow from the row. Which tensor its operand is, say
// step_operands() and prologue_operands() (workload/signature.h). The kernel for any sizes alone has loops of its own
// (runtime/fallback/activation.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "workload/expression/expression.h"
#include "workload/result.h"

namespace kiln {

struct EpilogueStep {
    enum class Kind {
        bias,
        add,
        relu,
        clamp,
        leaky_relu,
        hard_sigmoid,
        hard_swish,
        sigmoid,
        tanh,
        silu,
        gelu,
        gelu_tanh,
        prelu,
        requantize_litert,
        requantize_onnx,
        affine,
        scale,
    } kind = Kind::bias;
    float lo = 0, hi = 0;  // the numbers of its own; 0 where it has fewer
    bool operator==(const EpilogueStep &) const = default;
};

struct EpilogueForm {
    // A value for each output channel (of a prologue: input channel); a tensor of the result's shape.
    enum class Operand { none, channels, result };
    using Steepness = double (*)(const EpilogueStep &, double operand);

    EpilogueStep::Kind kind;
    std::string_view name;        // in keys
    int32_t code;                 // in runtime/kiln.h
    std::string_view numbers[2];  // what its numbers are called, in lo and hi; empty where it has fewer
    Operand operand = Operand::none;
    // An expression of the sum, x0, and of the operand, x1, or of its numbers, x1 and x2. Empty where it makes a quantized
    // result of a sum in i32: then operands of its own say how (workload/quantization/quantization.h). `add` behind such a step adds
    // quantized numbers, as is said there.
    std::string_view function;
    // Its Lipschitz constant: how much it may enlarge an error of the sum, given its operand or 0. Without one its values are
    // among those that it is given, and it leaves errors as they are.
    Steepness steepness = nullptr;

    bool requantizes() const { return function.empty(); }
    size_t number_count() const { return !numbers[0].empty() + !numbers[1].empty(); }
    std::string usage() const;  // "clamp:lo:hi"
};

std::span<const EpilogueForm> epilogue_forms();
const EpilogueForm &epilogue_form(EpilogueStep::Kind kind);

bool is_addition(EpilogueStep::Kind kind);  // of its operand
bool is_prologue_step(EpilogueStep::Kind kind);
bool is_requantization(EpilogueStep::Kind kind);
Status check_numbers(const EpilogueStep &step);

// The function of a step, with its numbers as constants of f32: of the sum, x0, and of its operand, x1. Precondition: it is no
// requantization.
scalar::Expression function_of(const EpilogueStep &step);

std::string name(const EpilogueStep &step);              // "clamp:0:6"
std::string names(std::span<const EpilogueStep> steps);  // "bias,clamp:0:6"
std::optional<EpilogueStep> parse_epilogue_step(std::string_view text);
int32_t interface_code(EpilogueStep::Kind kind);

}  // namespace kiln
