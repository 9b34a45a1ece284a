// Integers of 64 bits, of which f64 has not all: what functions of them answer, exactly, and wrapped around. Those without a sign are
// kept in the same bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "workload/expression/expression.h"

namespace kiln {

inline bool is_wide(scalar::Element type) { return type == scalar::Element::i64 || type == scalar::Element::u64; }

// The nearest f64.
inline double number_of(scalar::Element type, int64_t bits) {
    return type == scalar::Element::u64 ? static_cast<double>(static_cast<uint64_t>(bits)) : static_cast<double>(bits);
}

// A whole number of f64, at the end of the type where it lies beyond.
inline int64_t wide_of(scalar::Element type, double number) {
    if (type == scalar::Element::u64) {
        if (!(number > 0)) return 0;
        return number >= 0x1p64 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(number));
    }
    if (number >= 0x1p63) return std::numeric_limits<int64_t>::max();
    return number >= -0x1p63 ? static_cast<int64_t>(number) : std::numeric_limits<int64_t>::min();
}

// The lower bits, as an integer of a smaller type.
inline double narrowed(scalar::Element type, int64_t bits) {
    switch (type) {
        case scalar::Element::i8:
            return static_cast<int8_t>(bits);
        case scalar::Element::u8:
            return static_cast<uint8_t>(bits);
        case scalar::Element::i16:
            return static_cast<int16_t>(bits);
        case scalar::Element::u16:
            return static_cast<uint16_t>(bits);
        case scalar::Element::i32:
            return static_cast<int32_t>(bits);
        default:
            return static_cast<uint32_t>(bits);
    }
}

inline bool is_less(scalar::Element type, int64_t x, int64_t y) {
    return type == scalar::Element::u64 ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
}

// Towards zero; by 0 it is 0.
inline int64_t quotient(scalar::Element type, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (type == scalar::Element::u64) return static_cast<int64_t>(static_cast<uint64_t>(x) / static_cast<uint64_t>(y));
    return y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
}

// With the sign of the divisor.
inline int64_t remainder(scalar::Element type, int64_t x, int64_t y) {
    if (y == 0) return 0;
    if (type == scalar::Element::u64) return static_cast<int64_t>(static_cast<uint64_t>(x) % static_cast<uint64_t>(y));
    if (y == -1) return 0;
    const int64_t rest = x % y;
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

inline int64_t of_wide(scalar::Function function, scalar::Element type, int64_t x) {
    using scalar::Function;
    const auto negated = static_cast<int64_t>(0 - static_cast<uint64_t>(x));
    const bool is_negative = is_less(type, x, 0);
    switch (function) {
        case Function::negate:
            return negated;
        case Function::absolute:
            return is_negative ? negated : x;
        case Function::sign:
            return is_negative ? -1 : int64_t(x != 0);
        default:
            return x;  // what rounds changes no integer
    }
}

inline int64_t of_wide(scalar::Function function, scalar::Element type, int64_t x, int64_t y) {
    using scalar::Function;
    const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
    switch (function) {
        case Function::add:
            return static_cast<int64_t>(a + b);
        case Function::subtract:
            return static_cast<int64_t>(a - b);
        case Function::multiply:
            return static_cast<int64_t>(a * b);
        case Function::divide:
            return quotient(type, x, y);
        case Function::remainder:
            return remainder(type, x, y);
        case Function::minimum:
            return is_less(type, y, x) ? y : x;
        case Function::maximum:
            return is_less(type, x, y) ? y : x;
        default:  // a power, cut off as a conversion is
            return wide_of(type, std::trunc(std::pow(number_of(type, x), number_of(type, y))));
    }
}

}  // namespace kiln
