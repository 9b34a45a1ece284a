#include "generators/nest/float_functions.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace kiln {
namespace {

using namespace Halide;

constexpr uint32_t bits_of_infinity = 0x7f800000;

Expr number(double value) { return Expr(static_cast<float>(value)); }
Expr infinity() { return number(std::numeric_limits<double>::infinity()); }
Expr not_a_number() { return number(std::numeric_limits<double>::quiet_NaN()); }

Expr polynomial(const Expr &x, const std::vector<double> &coefficients) {  // the highest power first
    Expr sum = number(coefficients.front());
    for (size_t i = 1; i < coefficients.size(); i++) sum = sum * x + number(coefficients[i]);
    return sum;
}

Expr bits_of_size(const Expr &x) { return reinterpret<uint32_t>(x) & Expr(uint32_t{0x7fffffff}); }

// x = quadrant * pi / 2 + rest. Quadrants are counted from 0 to 3, and the rest is at most pi / 4 in size.
struct Angle {
    Expr quadrant, rest;
};

// The parts of pi / 2 are those of fdlibm for f32: the first times a quotient has no rounding in f64.
Angle angle_of(const Expr &x) {
    const Expr wide = cast<double>(x), quotient = round(wide * Expr(0.6366197723675814));
    const Expr rest = wide - quotient * Expr(1.57079631090164184570) - quotient * Expr(1.58932547735281966916e-08);
    return {cast<int>(quotient - floor(quotient * Expr(0.25)) * Expr(4.0)), clamp(cast<float>(rest), -1.0f, 1.0f)};
}

// Cephes, sinf and cosf. `first` is the quadrant of the result: 0 for the sine, 1 for the cosine.
Expr wave(const Expr &x, int first) {
    const Angle angle = angle_of(x);
    const Expr r = angle.rest, square = r * r, quadrant = angle.quadrant + first;
    const Expr sine = r + r * square * polynomial(square, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
    const Expr cosine =
        1.0f - 0.5f * square +
        square * square * polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
    const Expr size = select((quadrant & 1) == 0, sine, cosine);
    const Expr value = select((quadrant & 2) == 0, size, -size);
    return select(bits_of_size(x) < Expr(bits_of_infinity), value, not_a_number());
}

// 2^n exp(r): r is at most log(2) / 2 in size, and n is added to the exponent of exp(r) (Cephes, expf). Whatever the sum of
// both is where the result is not a normal number, it is not taken.
Expr exponential_of_number(const Expr &x) {
    const Expr n = cast<int>(x * 1.44269504088896341f + select(x < 0.0f, -0.5f, 0.5f)), real_n = cast<float>(n);
    const Expr r = x - real_n * 0.693359375f - real_n * -2.12194440e-4f;
    const Expr size = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                                     1.6666665459e-1, 5.0000001201e-1}) *
                          (r * r) +
                      r + 1.0f;
    const Expr scaled = reinterpret<float>(reinterpret<int>(size) + (n << 23));
    return select(x > 88.7228f, infinity(), x < -87.3365f, 0.0f, scaled);
}

Expr bits_of_sign(const Expr &x) { return reinterpret<uint32_t>(x) & Expr(uint32_t{0x80000000}); }

}  // namespace

Expr exponential(const Expr &x) { return select(is_not_a_number(x), x, exponential_of_number(x)); }

// Halide's logarithm of infinity is that of the largest number.
Expr logarithm(const Expr &x) { return select(is_not_a_number(x), x, x > 3.4e38f, x, log(x)); }

// Near 0, where 1 + x is rounded, 2 atanh(x / (2 + x)) as its series.
Expr logarithm_1p(const Expr &x) {
    const Expr s = x / (2.0f + x), square = s * s;
    const Expr near = 2.0f * s * polynomial(square, {1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3, 1.0});
    return select(abs(x) < 0.4f, near, logarithm(1.0f + x));
}

Expr sigmoid(const Expr &x) { return select(is_not_a_number(x), x, 1.0f / (1.0f + exponential_of_number(-x))); }

// A quotient of polynomials (Eigen's ptanh), which stays a unit in the last place below 1. From 9.02 on it is 1 in f32, and 1 + tanh(x)
// must vanish where x is negative and large.
Expr tangent_hyperbolic(const Expr &x) {
    const Expr bounded = clamp(x, -7.90531110763549805f, 7.90531110763549805f), square = bounded * bounded;
    const Expr above = bounded * polynomial(square, {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
                                                     5.12229709037114e-08, 1.48572235717979e-05, 6.37261928875436e-04,
                                                     4.89352455891786e-03});
    const Expr below =
        polynomial(square, {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03});
    return select(is_not_a_number(x), x, x > 9.02f, 1.0f, x < -9.02f, -1.0f, above / below);
}

namespace {

// A distribution function: 0.5 + b P(b^2) / Q(b^2), b = x between -bound and bound; 0 below. The quotients were fitted to the least
// largest error by weighted least squares (Lawson's iteration), which leaves less than 1e-8; the rest is rounding.
Expr distribution(const Expr &x, double bound, const std::vector<double> &above, const std::vector<double> &below) {
    const Expr bounded = clamp(x, number(-bound), number(bound)), square = bounded * bounded;
    const Expr quotient = bounded * polynomial(square, above) / polynomial(square, below);
    return select(x < number(-bound), 0.0f, quotient + 0.5f);
}

}  // namespace

// Below -17.3 the result is less than 2^-24.
Expr sigmoid_of_sum(const Expr &x) {
    return distribution(
        x, 17.3, {1.349572963137e-11, 8.174322514404e-08, 5.490833388878e-05, 8.372752758221e-03, 2.499999838856e-01},
        {3.109877990832e-09, 5.181980545123e-06, 1.621675381445e-03, 1.168242801339e-01, 1.0});
}

// Below -5.5 the result is less than 2^-25.
Expr normal_distribution_of_sum(const Expr &x) {
    return distribution(
        x, 5.5,
        {2.274932392953e-08, 6.352125009118e-06, 1.688267438434e-04, 4.677267143542e-03, 3.385275214258e-02,
         3.989422346228e-01},
        {1.197503239472e-06, 7.364784382714e-05, 1.884450891202e-03, 2.864593211155e-02, 2.515221840175e-01, 1.0});
}

// An odd quotient of polynomials (Eigen's erf), whose error is 3.4e-7 of the result. From 4 on it is 1 in f32.
Expr error_function(const Expr &x) {
    const Expr bounded = clamp(x, -4.0f, 4.0f), square = bounded * bounded;
    const Expr above = bounded * polynomial(square, {-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06,
                                                     -5.69250639462346e-05, -7.34990630326855e-04,
                                                     -2.95459980854025e-03, -1.60960333262415e-02});
    const Expr below = polynomial(square, {-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03,
                                           -7.37332916720468e-03, -1.42647390514189e-02});
    return select(is_not_a_number(x), x, clamp(above / below, -1.0f, 1.0f));
}

Expr sine(const Expr &x) { return wave(x, 0); }
Expr cosine(const Expr &x) { return wave(x, 1); }

// LLVM takes the product of a square root with itself for its argument, which is a number where that is negative; it does not
// look through a choice.
Expr square_root(const Expr &x) { return select(x < 0.0f, not_a_number(), sqrt(x)); }

// exp(y log |x|); a negative x has a power where y is whole, with its sign where y is odd. So has a zero.
Expr power(const Expr &x, const Expr &y) {
    const Expr size = exponential_of_number(y * logarithm(abs(x)));
    const Expr is_whole = floor(y) == y, is_odd = floor(y * 0.5f) * 2.0f != y;
    const Expr of_part = select(is_infinity(x), size, not_a_number());
    const Expr of_negative = select(!is_whole, of_part, is_odd, -size, size);
    const Expr sign_of_zero = select(is_whole && is_odd, bits_of_sign(x), Expr(uint32_t{0}));
    const Expr of_zero = reinterpret<float>(select(y < 0.0f, Expr(bits_of_infinity), Expr(uint32_t{0})) | sign_of_zero);
    return select(y == 0.0f || x == 1.0f, 1.0f, is_not_a_number(x), x, is_not_a_number(y), y, x == 0.0f, of_zero,
                  x < 0.0f, of_negative, size);
}

// A power by a few quarters is a product of x and its square roots. Local response normalization has 3 of them. Only the
// infinite one of the negative numbers has a power by a part.
Expr power(const Expr &x, double exponent) {
    const double quarters = 4 * exponent, count = std::abs(quarters);
    if (quarters == 0 || count != std::floor(count) || count > 16) return power(x, number(exponent));
    const int whole = static_cast<int>(count) / 4, rest = static_cast<int>(count) % 4;
    const Expr size = abs(x), factor = rest ? size : x;
    const Expr root = select(x < 0.0f && !is_infinity(x), not_a_number(), sqrt(size));
    std::vector<Expr> factors(whole / 2, factor * factor);
    if (whole % 2 == 1) factors.push_back(factor);
    if (rest > 1) factors.push_back(root);
    if (rest % 2 == 1) factors.push_back(sqrt(root));
    Expr product = factors.front();
    for (size_t i = 1; i < factors.size(); i++) product *= factors[i];
    return exponent < 0 ? 1.0f / product : product;
}

// A power of two, unless its reciprocal is subnormal or none.
bool has_exact_reciprocal(double x) {
    int exponent = 0;
    return std::abs(std::frexp(x, &exponent)) == 0.5 && std::abs(exponent) <= 126;
}

// Halide multiplies by the reciprocal of a constant, which makes less than 1 of 41 / 41. It refuses 0, by which a quotient is a product
// with infinity for each x: strict, since the compiler takes it that there is none.
Expr float_quotient(const Expr &x, const Expr &y) {
    using Internal::Call;
    const std::optional<double> divisor = Internal::as_const_float(y);
    if (!divisor || has_exact_reciprocal(*divisor)) return x / y;
    if (*divisor != 0) return Call::make(x.type(), Call::strict_div, {x, y}, Call::PureIntrinsic);
    const Expr reciprocal = Internal::make_const(x.type(), 1 / *divisor);
    return Call::make(x.type(), Call::strict_mul, {x, reciprocal}, Call::PureIntrinsic);
}

// In f64 the product of quotient and divisor has no rounding.
Expr remainder(const Expr &x, const Expr &y) {
    const Expr a = cast<double>(x), b = cast<double>(y), quotient = trunc(float_quotient(a, b));
    const Expr rest = select(quotient == Expr(0.0), x, cast<float>(a - quotient * b));
    return select(rest != 0.0f && (rest < 0.0f) != (y < 0.0f), rest + y, rest);
}

// Numbers from 2^23 on are whole; targets without an instruction go by way of integers.
Expr whole(const Expr &x, const Expr &rounded) {
    return select(bits_of_size(x) < Expr(uint32_t{0x4b000000}), rounded, x);
}

Expr is_not_a_number(const Expr &x) { return bits_of_size(x) > Expr(bits_of_infinity); }
Expr is_infinity(const Expr &x) { return bits_of_size(x) == Expr(bits_of_infinity); }

namespace {

// The bits of negative numbers fall where the numbers rise. The function is its own inverse.
Expr turned_if_negative(const Expr &bits) { return bits ^ ((bits >> 31) & Expr(int32_t{0x7fffffff})); }

}  // namespace

Expr place_of_number(const Expr &x, int32_t of_nan) {
    return select(is_not_a_number(x), Expr(of_nan), turned_if_negative(reinterpret<int32_t>(x)));
}

Expr number_at_place(const Expr &place) { return reinterpret<float>(turned_if_negative(place)); }

}  // namespace kiln
