#include "generators/requantize.h"

#include <cstdint>
#include <limits>

#include "generators/halide_type.h"

namespace kiln {

using namespace Halide;

namespace {

// The bounds keep the product so small that adding 1.5 * 2^23 rounds it to an integer, halves to even, in the low bits of its
// fraction: one addition on any processor. The lowest 8 bits of `shifter` are 0.
Expr onnx(const Expr &sum, const Requantization &how) {
    constexpr float shifter = 12582912;  // 0x4b400000
    const Expr lo = cast<float>(how.smallest - how.zero_point), hi = cast<float>(how.largest - how.zero_point);
    const Expr product = clamp(cast<float>(sum) * how.scale, lo, hi);
    return reinterpret<int32_t>(product + shifter);
}

}  // namespace

// gemmlowp's high multiply rounds halves up on both sides of zero: its nudge and its division, which rounds towards zero,
// together are a floor. Its division by a power of two rounds halves away from zero.
Expr litert_requantized(const Expr &sum, const Expr &multiplier, const Expr &shift) {
    const Expr left = cast<uint32_t>(max(shift, 0)), right = cast<uint32_t>(max(-shift, 0));
    const Expr most = cast<int32_t>(std::numeric_limits<int32_t>::max()) >> left;
    const Expr shifted = clamp(sum, -most - 1, most) << left;
    const Expr product = cast<int64_t>(shifted) * cast<int64_t>(multiplier);
    const Expr high = cast<int32_t>((product + cast<int64_t>(1 << 30)) >> cast<uint64_t>(31));
    const Expr mask = reinterpret<int32_t>((cast<uint32_t>(1) << right) - cast<uint32_t>(1));
    const Expr threshold = (mask >> 1) + select(high < 0, 1, 0);
    return (high >> right) + select((high & mask) > threshold, 1, 0);
}

Expr requantize(const Workload &workload, const Expr &sum, const Requantization &how) {
    if (workload.epilogue.empty()) return sum;
    // The zero point is added in 8 bits, of which a vector has four times as many: what wraps around there comes back.
    const Type type = halide_type(workload.output_dtype);
    const auto with_zero_point = [&](const Expr &number) { return cast(type, number) + cast(type, how.zero_point); };
    switch (workload.epilogue.back().kind) {
        case EpilogueStep::Kind::requantize_litert:
            return with_zero_point(clamp(litert_requantized(sum, how.multiplier, how.shift),
                                         how.smallest - how.zero_point, how.largest - how.zero_point));
        case EpilogueStep::Kind::requantize_onnx:
            return with_zero_point(onnx(sum, how));
        default:
            return sum;
    }
}

}  // namespace kiln
