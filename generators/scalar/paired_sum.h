// Two pixels in a word, a + b * 2^16, so that a product by a weight is one instruction for both.
//
// A product of a weight and a pair is one of a in the lower half and one of b in the upper half of a word. Two of them fit: a
// sum of two products is from -32512 to 32768, so with an offset the lower half is never negative and never carries, and the
// upper half is a number of 16 bits without a sign. The upper halves are added up apart, and so are the words, from which they
// are taken at the end. Both begin with the start of the channel less all offsets.
#pragma once

#include <Halide.h>

#include <cstdint>

namespace kiln {

inline constexpr uint32_t paired_low_offset = 32767, paired_high_offset = 32512;

// The words of all steps, and their upper halves.
struct PairedSum {
    Halide::Expr words, high;
};

// A number of 32 bits without a sign, as a constant.
inline Halide::Expr word(uint32_t bits) { return Halide::cast<uint32_t>(Halide::Expr(static_cast<int32_t>(bits))); }

inline Halide::Expr paired_products(const Halide::Expr &first, const Halide::Expr &second) {
    return first + second + word(paired_low_offset + (paired_high_offset << 16));
}

inline PairedSum paired_start(const Halide::Expr &start, const Halide::Expr &steps) {
    const Halide::Expr begin = Halide::cast<uint32_t>(start), high = begin - steps * word(paired_high_offset);
    return {begin - steps * word(paired_low_offset) + (high << Halide::cast<uint32_t>(16)), high};
}

inline Halide::Expr paired_total(const PairedSum &sum, const Halide::Expr &is_low) {
    const Halide::Expr low = sum.words - (sum.high << Halide::cast<uint32_t>(16));
    return Halide::reinterpret<int32_t>(Halide::select(is_low, low, sum.high));
}

}  // namespace kiln
