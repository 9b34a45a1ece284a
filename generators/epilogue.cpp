#include "generators/epilogue.h"

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

Expr apply_epilogue(const Workload &workload, Expr sum, const Expr &bias, const Expr &addend) {
    const auto keep_nan = [&](const Expr &before, const Expr &after) {
        return workload.special_values == SpecialValues::exact ? select(is_nan_in_bits(before), before, after) : after;
    };
    for (const EpilogueStep &step : workload.epilogue) {
        switch (step.kind) {
            case EpilogueStep::Kind::bias:
                sum += bias;
                break;
            case EpilogueStep::Kind::add:
                sum += addend;
                break;
            case EpilogueStep::Kind::relu:
                sum = keep_nan(sum, select(sum < 0.0f, 0.0f, sum));
                break;
            case EpilogueStep::Kind::clamp: {
                const Expr raised = select(sum < step.lo, step.lo, sum);
                sum = keep_nan(sum, select(raised > step.hi, step.hi, raised));
                break;
            }
        }
    }
    return sum;
}

Expr convert_result(const Workload &workload, const Halide::Type &type, const Expr &value) {
    const Expr converted = Halide::cast(type, value);
    if (type.bits() == 32 || workload.special_values != SpecialValues::exact) return converted;
    // Without conversions in hardware Halide rounds a NaN up to an infinity.
    const uint16_t quiet_nan = type.is_bfloat() ? 0x7fc0 : 0x7e00;
    return select(is_nan_in_bits(value), Halide::reinterpret(type, Expr(quiet_nan)), converted);
}

}  // namespace kiln
