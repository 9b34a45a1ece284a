#include "generators/nest/integer_functions.h"

#include <cmath>

#include "generators/nest/float_functions.h"

namespace kiln {
namespace {

using namespace Halide;
using scalar::Element;
using scalar::Function;

Type type_of(Element type) {
    const int bits = 8 * scalar::size_of(type);
    switch (type) {
        case Element::f64:
            return Float(64);
        case Element::boolean:
            return Bool();
        case Element::u8:
        case Element::u16:
        case Element::u32:
        case Element::u64:
            return UInt(bits);
        case Element::i8:
        case Element::i16:
        case Element::i32:
        case Element::i64:
            return Int(bits);
        default:
            return Float(32);
    }
}

// The lowest is a number of f32; the highest that is compared with is the one after the last, which is one too.
Expr cut_off(const Expr &value, const Type &type) {
    const bool is_wide = value.type().bits() == 64;
    const Expr number = is_wide ? value : cast<double>(value);
    const double beyond = std::ldexp(1.0, type.bits() - (type.is_int() ? 1 : 0));
    const Expr above = number >= Expr(beyond), below = number <= Expr(type.is_int() ? -beyond : 0.0);
    const Expr inside = select(above || below, Expr(0.0), number);
    // Halide converts to unsigned numbers of 64 bits by way of signed ones.
    Expr whole = cast(type, inside);
    if (type == UInt(64)) {
        const Expr half = Expr(9223372036854775808.0);
        whole = select(inside < half, cast(type, cast<int64_t>(inside)),
                       cast(type, cast<int64_t>(inside - half)) + (cast(type, 1) << 63));
    }
    const Expr is_nan = is_wide ? Halide::is_nan(value) : is_not_a_number(value);
    return select(is_nan, cast(type, 0), above, type.max(), below, type.min(), whole);
}

// Signed sums that overflow are undefined in Halide.
template<typename Join>
Expr wrapped(const Expr &a, const Expr &b, const Join &join) {
    const Type type = a.type(), bits = UInt(type.bits());
    return cast(type, join(cast(bits, a), cast(bits, b)));
}

Expr difference(const Expr &a, const Expr &b) {
    return wrapped(a, b, [](const Expr &x, const Expr &y) { return x - y; });
}

// Towards zero. 0 and -1, by which processors may trap, do not divide.
Expr quotient(const Expr &a, const Expr &b) {
    const Type type = a.type();
    const Expr zero = cast(type, 0), one = cast(type, 1);
    if (type.is_uint()) return select(b == zero, zero, a / select(b == zero, one, b));
    const Expr minus_one = cast(type, -1), safe = select(b == zero || b == minus_one, one, b);
    return select(b == zero, zero, b == minus_one, difference(zero, a), div_round_to_zero(a, safe));
}

// With the sign of the divisor.
Expr rest_of(const Expr &a, const Expr &b) {
    const Type type = a.type();
    const Expr zero = cast(type, 0), one = cast(type, 1);
    if (type.is_uint()) return select(b == zero, zero, a % select(b == zero, one, b));
    const Expr safe = select(b == zero || b == cast(type, -1), one, b), rest = mod_round_to_zero(a, safe);
    return select(rest != zero && (rest < zero) != (b < zero), rest + b, rest);
}

}  // namespace

Expr converted(const Expr &value, Element type) {
    const Type to = type_of(type), from = value.type();
    if (to.is_bool()) return from.is_bool() ? value : value != cast(from, 0);
    if (type == Element::f16) return cast<float>(cast<float16_t>(cast<float>(value)));
    if (type == Element::bf16) return cast<float>(cast<bfloat16_t>(cast<float>(value)));
    if (from.is_float() && !to.is_float()) return cut_off(value, to);
    return cast(to, value);
}

Expr integer_function(Function function, const Expr &a) {
    const Expr zero = cast(a.type(), 0), one = cast(a.type(), 1);
    const Expr negative = difference(zero, a);
    switch (function) {
        case Function::absolute:
            return a.type().is_uint() ? a : select(a < zero, negative, a);
        case Function::sign:
            return a.type().is_uint() ? select(a > zero, one, zero) : select(a > zero, one, a < zero, zero - one, zero);
        default:
            return negative;
    }
}

Expr integer_function(Function function, const Expr &a, const Expr &b) {
    switch (function) {
        case Function::add:
            return wrapped(a, b, [](const Expr &x, const Expr &y) { return x + y; });
        case Function::subtract:
            return difference(a, b);
        case Function::multiply:
            return wrapped(a, b, [](const Expr &x, const Expr &y) { return x * y; });
        case Function::divide:
            return quotient(a, b);
        case Function::remainder:
            return rest_of(a, b);
        case Function::power:
            return cut_off(pow(cast<double>(a), cast<double>(b)), a.type());
        case Function::minimum:
            return min(a, b);
        default:
            return max(a, b);
    }
}

}  // namespace kiln
