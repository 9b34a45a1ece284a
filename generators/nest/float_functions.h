// Functions of f32 that run in vectors on every target: no step is a call, but for the rounding of targets without an
// instruction for it. Results are right to a few units in the last place, but for the conditions of their arguments; NaN and
// infinities are those of libm.
#pragma once

#include <Halide.h>

#include <cstdint>

namespace kiln {

Halide::Expr exponential(const Halide::Expr &x);
Halide::Expr logarithm(const Halide::Expr &x);
Halide::Expr square_root(const Halide::Expr &x);
Halide::Expr logarithm_1p(const Halide::Expr &x);
Halide::Expr sigmoid(const Halide::Expr &x);
Halide::Expr tangent_hyperbolic(const Halide::Expr &x);
Halide::Expr error_function(const Halide::Expr &x);
Halide::Expr sine(const Halide::Expr &x);    // arguments up to 2^28
Halide::Expr cosine(const Halide::Expr &x);  // the same
Halide::Expr power(const Halide::Expr &x, const Halide::Expr &y);
Halide::Expr power(const Halide::Expr &x, double exponent);
Halide::Expr float_quotient(const Halide::Expr &x, const Halide::Expr &y);  // rounded once, of f64, too
Halide::Expr remainder(const Halide::Expr &x, const Halide::Expr &y);       // with the sign of y; quotients up to 2^29

// Distribution functions to 2^-22 of 1, however small they are; x is no NaN.
Halide::Expr sigmoid_of_sum(const Halide::Expr &x);
Halide::Expr normal_distribution_of_sum(const Halide::Expr &x);

Halide::Expr whole(const Halide::Expr &x,
                   const Halide::Expr &rounded);  // x rounded in some way, for numbers of any size

// By their bits: the compiler may take it that the result of arithmetic is neither.
Halide::Expr is_not_a_number(const Halide::Expr &x);
Halide::Expr is_infinity(const Halide::Expr &x);

// A number's place among all: an i32 that is larger where the number is. Maxima and minima of places are those of numbers, and keep
// NaN, whose place is `of_nan`: the largest or the least i32.
Halide::Expr place_of_number(const Halide::Expr &x, int32_t of_nan);
Halide::Expr number_at_place(const Halide::Expr &place);

}  // namespace kiln
