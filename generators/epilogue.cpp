#include "generators/epilogue.h"

#include "generators/nest/float_functions.h"
#include "generators/nest/scalar_function.h"

namespace kiln {

using Halide::Expr;
using Halide::select;

namespace {

// Errors of a step count beside the magnitude of its sums. So distribution functions need not be exact to the last bit where they
// are small, and x times one of them is as exact as x. tanh(y) + 1 is 2 sigmoid(2 y).
Expr value_of(const EpilogueStep &step, const std::vector<Expr> &values) {
    using Kind = EpilogueStep::Kind;
    const Expr &x = values[0];
    if (step.kind == Kind::sigmoid) return sigmoid_of_sum(x);
    if (step.kind == Kind::silu) return x * sigmoid_of_sum(x);
    if (step.kind == Kind::gelu) return x * normal_distribution_of_sum(x);
    if (step.kind == Kind::gelu_tanh) return x * sigmoid_of_sum(x * (1.59576912f + 0.0713548163f * (x * x)));
    return halide_expression(function_of(step), values);
}

}  // namespace

Expr apply_steps(const std::vector<EpilogueStep> &steps, SpecialValues special, Expr value, const StepValues &operands,
                 bool apart) {
    const bool keeps_nan = special == SpecialValues::exact;
    for (const EpilogueStep &step : steps) {
        const auto operand = operands.find(step.kind);
        std::vector<Expr> values{value};
        if (operand != operands.end()) values.push_back(operand->second);
        Expr result = value_of(step, values);
        if (apart && &step == &steps[0] && is_addition(step.kind)) result = strict_float(result);
        value = keeps_nan && !is_addition(step.kind) ? select(is_not_a_number(value), value, result) : result;
    }
    return value;
}

Expr convert_result(const Workload &workload, const Halide::Type &type, const Expr &value) {
    const Expr converted = Halide::cast(type, value);
    if (type.bits() == 32 || workload.special_values != SpecialValues::exact) return converted;
    // Without conversions in hardware Halide rounds a NaN up to an infinity.
    const uint16_t quiet_nan = type.is_bfloat() ? 0x7fc0 : 0x7e00;
    return select(is_not_a_number(value), Halide::reinterpret(type, Expr(quiet_nan)), converted);
}

}  // namespace kiln
