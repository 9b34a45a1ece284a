#include "generators/epilogue.h"

#include "generators/nest/scalar_function.h"

namespace kiln {

using Halide::Expr;
using Halide::select;

namespace {

// By its bits: the compiler may take any comparison of floats to mean that neither is a NaN.
Expr is_nan_in_bits(const Expr &value) {
    return (Halide::reinterpret<uint32_t>(value) & Halide::cast<uint32_t>(0x7fffffff)) >
           Halide::cast<uint32_t>(0x7f800000);
}

}  // namespace

Expr apply_steps(const std::vector<EpilogueStep> &steps, SpecialValues special, Expr value,
                 const StepValues &operands) {
    const bool keeps_nan = special == SpecialValues::exact;
    for (const EpilogueStep &step : steps) {
        const auto operand = operands.find(step.kind);
        std::vector<Expr> values{value};
        if (operand != operands.end()) values.push_back(operand->second);
        const Expr result = halide_expression(function_of(step), values);
        value = keeps_nan && !is_addition(step.kind) ? select(is_nan_in_bits(value), value, result) : result;
    }
    return value;
}

Expr convert_result(const Workload &workload, const Halide::Type &type, const Expr &value) {
    const Expr converted = Halide::cast(type, value);
    if (type.bits() == 32 || workload.special_values != SpecialValues::exact) return converted;
    // Without conversions in hardware Halide rounds a NaN up to an infinity.
    const uint16_t quiet_nan = type.is_bfloat() ? 0x7fc0 : 0x7e00;
    return select(is_nan_in_bits(value), Halide::reinterpret(type, Expr(quiet_nan)), converted);
}

}  // namespace kiln
