// A value in f64 with the bound of the error that f32 arithmetic has.
#pragma once

#include <cmath>
#include <limits>

#include "workload/expression/expression.h"

namespace kiln {

// A value and the bound of its error in units of one rounding.
struct Bounded {
    double value = 0, error = 0;
    bool is_given = false;  // no arithmetic has rounded it, so that every kernel has the same number
};

// Neither a float nor a condition. References ask it for each step of each element.
inline bool is_integer(scalar::Element type) {
    switch (type) {
        case scalar::Element::f16:
        case scalar::Element::bf16:
        case scalar::Element::f32:
        case scalar::Element::f64:
        case scalar::Element::boolean:
            return false;
        default:
            return true;
    }
}

// Neither 0, nor a number that f32 has with fewer digits or none. As often asked.
inline bool is_normal_in_f32(double value) {
    const double size = std::fabs(value);
    return size >= std::numeric_limits<float>::min() && size <= std::numeric_limits<float>::max();
}

// A function of arguments of one type. Where it rounds or compares what an error could turn, that is an error as large as the
// difference.
Bounded bounded(scalar::Function function, scalar::Element type, const Bounded &x);
Bounded bounded(scalar::Function function, scalar::Element type, const Bounded &a, const Bounded &b);
Bounded converted(const Bounded &x, scalar::Element from, scalar::Element to);
// The error of a function of integers, which round nothing. Of one argument, both are that.
double error_of_integers(scalar::Function function, const Bounded &a, const Bounded &b);
// A comparison of two numbers that an error could turn, or where both are given, of numbers that nobody rounded.
Bounded compared(bool holds, const Bounded &a, const Bounded &b);
Bounded selected(const Bounded &condition, const Bounded &then, const Bounded &otherwise);

// A result in f32, which has no larger numbers but infinity, and where small ones lose digits or become 0.
Bounded within_f32(const Bounded &x);

// An element of a type: floats keep their value, with the error of one rounding; integers are exact and saturate.
Bounded bounded_number(scalar::Element type, double value);

}  // namespace kiln
