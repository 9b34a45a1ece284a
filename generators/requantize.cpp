#include "generators/requantize.h"

#include <cstdint>
#include <limits>

#include "generators/halide_type.h"
#include "workload/quantization/quantization.h"

namespace kiln {

using namespace Halide;

namespace {

// Bounds keep a number so small that adding 1.5 * 2^23 rounds it to an integer, halves to even, in the low bits of its
// fraction: one addition on any processor. The lowest 8 bits of `shifter` are 0.
constexpr float shifter = 12582912;  // 0x4b400000

Expr between_bounds(const Expr &number, const Expr &zero_point, const Expr &smallest, const Expr &largest) {
    return clamp(number, cast(number.type(), smallest - zero_point), cast(number.type(), largest - zero_point));
}

Expr onnx_product(const Expr &sum, const Requantization &how) {
    return between_bounds(cast<float>(sum) * how.scale, how.zero_point, how.smallest, how.largest);
}

// The zero point is added in 8 bits, of which a vector has four times as many: what wraps around there comes back.
Expr with_zero_point(const Type &type, const Expr &number, const Expr &zero_point) {
    return cast(type, number) + cast(type, zero_point);
}

// Without the zero point.
Expr requantized(const Workload &workload, const Expr &sum, const Requantization &how, const Staged &staged) {
    if (requantization_of(workload)->kind == EpilogueStep::Kind::requantize_onnx)
        return reinterpret<int32_t>(staged(onnx_product(sum, how)) + shifter);
    return between_bounds(litert_requantized(sum, how.multiplier, how.shift, staged), how.zero_point, how.smallest,
                          how.largest);
}

Expr litert_added(const Expr &sum, const Requantization &how, const QuantizedAddition &a, const Staged &staged) {
    constexpr int more_bits = 1 << 20;
    const Expr number = staged(between_bounds(litert_requantized(sum, how.multiplier, how.shift, staged),
                                              how.zero_point, how.smallest, how.largest));
    const Expr addend = cast<int32_t>(a.addend) - a.addend_zero_point;
    const Expr first = staged(litert_requantized(number * more_bits, a.multiplier[0], a.shift[0], staged));
    const Expr second = litert_requantized(addend * more_bits, a.multiplier[1], a.shift[1], staged);
    const Expr both = staged(first + second);
    return between_bounds(litert_requantized(both, a.multiplier[2], a.shift[2], staged), a.zero_point, a.smallest,
                          a.largest);
}

// No step may be joined with another or left out, so all of them are strict. The zero point and what rounded are one number: both
// sums are exact.
Expr onnx_added(const Expr &sum, const Requantization &how, const QuantizedAddition &a, const Staged &staged) {
    const Expr shifted = staged(strict_float(onnx_product(sum, how))) + shifter;
    const Expr number = shifted + (cast<float>(how.zero_point) - shifter);
    const Expr first = staged(strict_float(number * a.factors[0]));
    const Expr both = staged(strict_float(first + cast<float>(a.addend) * a.factors[1] + a.factors[2]));
    return reinterpret<int32_t>(strict_float(between_bounds(both, a.zero_point, a.smallest, a.largest) + shifter));
}

}  // namespace

// gemmlowp's high multiply rounds halves up on both sides of zero: its nudge and its division, which rounds towards zero,
// together are a floor. Its division by a power of two rounds halves away from zero.
Expr litert_requantized(const Expr &sum, const Expr &multiplier, const Expr &shift, const Staged &staged) {
    const Expr left = cast<uint32_t>(max(shift, 0)), right = cast<uint32_t>(max(-shift, 0));
    const Expr most = cast<int32_t>(std::numeric_limits<int32_t>::max()) >> left;
    const Expr shifted = staged(clamp(sum, -most - 1, most) << left);
    const Expr product = cast<int64_t>(shifted) * cast<int64_t>(multiplier);
    const Expr high = staged(cast<int32_t>((product + cast<int64_t>(1 << 30)) >> cast<uint64_t>(31)));
    const Expr mask = reinterpret<int32_t>((cast<uint32_t>(1) << right) - cast<uint32_t>(1));
    const Expr threshold = (mask >> 1) + select(high < 0, 1, 0);
    return (high >> right) + select((high & mask) > threshold, 1, 0);
}

Expr requantize(const Workload &workload, const Expr &sum, const Requantization &how, const Staged &staged) {
    if (!requantization_of(workload)) return sum;
    return with_zero_point(halide_type(workload.output_dtype), requantized(workload, sum, how, staged), how.zero_point);
}

Expr requantize_and_add(const Workload &workload, const Expr &sum, const Requantization &how,
                        const QuantizedAddition &addition, const Staged &staged) {
    const bool is_onnx = requantization_of(workload)->kind == EpilogueStep::Kind::requantize_onnx;
    return with_zero_point(halide_type(workload.output_dtype),
                           is_onnx ? onnx_added(sum, how, addition, staged) : litert_added(sum, how, addition, staged),
                           addition.zero_point);
}

}  // namespace kiln
