#include "generators/c/c_float_functions.h"

namespace kiln {
namespace {

constexpr CFloatFunction functions[] = {
    // Of a number that is not 0.
    {"kiln_leading_zeros", "", R"(
static int32_t kiln_leading_zeros(uint32_t bits) {
    int32_t count = 0;
    if (!(bits >> 16)) count += 16, bits <<= 16;
    if (!(bits >> 24)) count += 8, bits <<= 8;
    if (!(bits >> 28)) count += 4, bits <<= 4;
    if (!(bits >> 30)) count += 2, bits <<= 2;
    return count + !(bits >> 31);
}
)"},
    // bits * 2^(exponent - 157), where bits are from 2^30 to 2^31, and the lowest stands for all that are smaller.
    {"kiln_f32_rounded", "", R"(
static uint32_t kiln_f32_rounded(uint32_t sign, int32_t exponent, uint32_t bits) {
    if (exponent >= 255) return sign | UINT32_C(0x7f800000);
    if (exponent < 1) {
        const uint32_t shift = (uint32_t)(1 - exponent);
        bits = shift < 31 ? (bits >> shift) | ((bits & ((UINT32_C(1) << shift) - 1)) != 0) : 1;
        exponent = 1;
    }
    return sign | (((uint32_t)(exponent - 1) << 23) + ((bits + 63 + ((bits >> 7) & 1)) >> 7));
}
)"},
    // The number is *bits * 2^(exponent - 150). Bits are from 2^23 to 2^24, but for 0.
    {"kiln_f32_parts", "kiln_leading_zeros ", R"(
static int32_t kiln_f32_parts(uint32_t number, uint32_t *bits) {
    const int32_t exponent = (int32_t)(number >> 23 & 255);
    uint32_t fraction = number & UINT32_C(0x7fffff);
    if (exponent > 0) {
        *bits = fraction | UINT32_C(0x800000);
        return exponent;
    }
    *bits = 0;
    if (fraction == 0) return 0;
    const int32_t shift = kiln_leading_zeros(fraction) - 8;
    *bits = fraction << shift;
    return 1 - shift;
}
)"},
    {"kiln_f32_add", "kiln_leading_zeros kiln_f32_rounded ", R"(
static uint32_t kiln_f32_add(uint32_t a, uint32_t b) {
    uint32_t x = a & UINT32_C(0x7fffffff), y = b & UINT32_C(0x7fffffff);
    if (x < y) {
        const uint32_t smaller = a;
        a = b, b = smaller;
        x = a & UINT32_C(0x7fffffff), y = b & UINT32_C(0x7fffffff);
    }
    const int differ = (int)((a ^ b) >> 31);
    if (x >= UINT32_C(0x7f800000)) return x > UINT32_C(0x7f800000) || (x == y && differ) ? UINT32_C(0x7fc00000) : a;
    if (y == 0) return x == 0 ? a & b : a;
    int32_t exponent = x >> 23 ? (int32_t)(x >> 23) : 1;
    const int32_t other = y >> 23 ? (int32_t)(y >> 23) : 1, apart = exponent - other;
    uint32_t bits = ((x & UINT32_C(0x7fffff)) | (x >> 23 ? UINT32_C(0x800000) : 0)) << 7;
    uint32_t more = ((y & UINT32_C(0x7fffff)) | (y >> 23 ? UINT32_C(0x800000) : 0)) << 7;
    more = apart < 31 ? (more >> apart) | ((more & ((UINT32_C(1) << apart) - 1)) != 0) : 1;
    bits = differ ? bits - more : bits + more;
    if (bits == 0) return 0;
    if (bits >> 31) {
        bits = (bits >> 1) | (bits & 1);
        exponent++;
    } else if (!(bits >> 30)) {
        const int32_t shift = kiln_leading_zeros(bits) - 1;
        bits <<= shift;
        exponent -= shift;
    }
    return kiln_f32_rounded(a & UINT32_C(0x80000000), exponent, bits);
}
)"},
    {"kiln_f32_multiply", "kiln_leading_zeros kiln_f32_rounded kiln_f32_parts ", R"(
static uint32_t kiln_f32_multiply(uint32_t a, uint32_t b) {
    const uint32_t sign = (a ^ b) & UINT32_C(0x80000000), x = a & UINT32_C(0x7fffffff), y = b & UINT32_C(0x7fffffff);
    const uint32_t larger = x > y ? x : y;
    if (larger >= UINT32_C(0x7f800000)) {
        return larger > UINT32_C(0x7f800000) || x == 0 || y == 0 ? UINT32_C(0x7fc00000) : sign | UINT32_C(0x7f800000);
    }
    if (x == 0 || y == 0) return sign;
    uint32_t first, second;
    int32_t exponent = kiln_f32_parts(x, &first) - 126;
    exponent += kiln_f32_parts(y, &second);
    const uint64_t product = (uint64_t)(first << 7) * (second << 8);
    uint32_t bits = (uint32_t)(product >> 32) | ((uint32_t)product != 0);
    if (!(bits >> 30)) {
        bits = (uint32_t)(product >> 31) | (((uint32_t)product << 1) != 0);
        exponent--;
    }
    return kiln_f32_rounded(sign, exponent, bits);
}
)"},
    // Eight bits of the quotient at a time.
    {"kiln_f32_divide", "kiln_leading_zeros kiln_f32_rounded kiln_f32_parts ", R"(
static uint32_t kiln_f32_divide(uint32_t a, uint32_t b) {
    const uint32_t sign = (a ^ b) & UINT32_C(0x80000000), x = a & UINT32_C(0x7fffffff), y = b & UINT32_C(0x7fffffff);
    const uint32_t infinity = UINT32_C(0x7f800000);
    if (x > infinity || y > infinity || (x == infinity && y == infinity) || (x == 0 && y == 0)) return UINT32_C(0x7fc00000);
    if (x == infinity || y == 0) return sign | infinity;
    if (x == 0 || y == infinity) return sign;
    uint32_t rest, divisor;
    int32_t exponent = kiln_f32_parts(x, &rest) + 127;
    exponent -= kiln_f32_parts(y, &divisor);
    if (rest < divisor) {
        rest <<= 1;
        exponent--;
    }
    uint32_t bits = 1;
    rest -= divisor;
    for (int i = 0; i < 3; i++) {
        rest <<= 8;
        bits = (bits << 8) | rest / divisor;
        rest %= divisor;
    }
    rest <<= 6;
    bits = (bits << 6) | rest / divisor;
    return kiln_f32_rounded(sign, exponent, bits | (rest % divisor != 0));
}
)"},
    // A digit of the root after the other. Where the exponent is odd, the number is twice as large.
    {"kiln_f32_square_root", "kiln_leading_zeros kiln_f32_parts ", R"(
static uint32_t kiln_f32_square_root(uint32_t a) {
    if (a << 1 == 0) return a;
    if (a >= UINT32_C(0x7f800000)) return a == UINT32_C(0x7f800000) ? a : UINT32_C(0x7fc00000);
    uint32_t rest, root = 0, tried = 0;
    const int32_t exponent = kiln_f32_parts(a, &rest) - 127;
    rest <<= 1 + (exponent & 1);
    for (uint32_t digit = UINT32_C(1) << 24; digit > 0; digit >>= 1) {
        const uint32_t sum = tried + digit;
        if (sum <= rest) {
            tried = sum + digit;
            rest -= sum;
            root += digit;
        }
        rest <<= 1;
    }
    root += rest != 0 && (root & 1) ? 1 : 0;
    return ((uint32_t)((exponent >> 1) + 126) << 23) + (root >> 1);
}
)"},
    {"kiln_f32_less", "", R"(
static int kiln_f32_less(uint32_t a, uint32_t b) {
    if ((a & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) || (b & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000)) return 0;
    if (((a | b) << 1) == 0) return 0;
    return a >> 31 ? !(b >> 31) || a > b : !(b >> 31) && a < b;
}
)"},
    {"kiln_f32_less_or_equal", "", R"(
static int kiln_f32_less_or_equal(uint32_t a, uint32_t b) {
    if ((a & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000) || (b & UINT32_C(0x7fffffff)) > UINT32_C(0x7f800000)) return 0;
    if (((a | b) << 1) == 0) return 1;
    return a >> 31 ? !(b >> 31) || a >= b : !(b >> 31) && a <= b;
}
)"},
    {"kiln_f32_equal", "", R"(
static int kiln_f32_equal(uint32_t a, uint32_t b) {
    return (a & UINT32_C(0x7fffffff)) <= UINT32_C(0x7f800000) && (a == b || ((a | b) << 1) == 0);
}
)"},
    {"kiln_f32_min", "kiln_f32_less ", R"(
static uint32_t kiln_f32_min(uint32_t a, uint32_t b) { return kiln_f32_less(a, b) ? a : b; }
)"},
    {"kiln_f32_max", "kiln_f32_less ", R"(
static uint32_t kiln_f32_max(uint32_t a, uint32_t b) { return kiln_f32_less(b, a) ? a : b; }
)"},
    // Whole numbers: the nearest, halves to even; towards zero; towards minus infinity.
    {"kiln_f32_round", "", R"(
static uint32_t kiln_f32_round(uint32_t a) {
    const uint32_t sign = a & UINT32_C(0x80000000), size = a & UINT32_C(0x7fffffff);
    if (size >= UINT32_C(0x4b000000)) return a;
    if (size <= UINT32_C(0x3f000000)) return sign;
    if (size < UINT32_C(0x3f800000)) return sign | UINT32_C(0x3f800000);
    const uint32_t shift = 150 - (size >> 23), unit = UINT32_C(1) << shift;
    return sign | ((size + (unit >> 1) - 1 + ((size >> shift) & 1)) & ~(unit - 1));
}
)"},
    {"kiln_f32_trunc", "", R"(
static uint32_t kiln_f32_trunc(uint32_t a) {
    const uint32_t size = a & UINT32_C(0x7fffffff);
    if (size >= UINT32_C(0x4b000000)) return a;
    if (size < UINT32_C(0x3f800000)) return a & UINT32_C(0x80000000);
    return a & ~((UINT32_C(1) << (150 - (size >> 23))) - 1);
}
)"},
    {"kiln_f32_floor", "kiln_f32_trunc ", R"(
static uint32_t kiln_f32_floor(uint32_t a) {
    const uint32_t whole = kiln_f32_trunc(a);
    if (!(a >> 31) || whole == a) return whole;
    const uint32_t size = a & UINT32_C(0x7fffffff);
    if (size < UINT32_C(0x3f800000)) return UINT32_C(0xbf800000);
    const uint32_t unit = UINT32_C(1) << (150 - (size >> 23));
    return whole + unit;
}
)"},
    {"kiln_f32_ceil", "kiln_f32_trunc kiln_f32_floor ", R"(
static uint32_t kiln_f32_ceil(uint32_t a) { return kiln_f32_floor(a ^ UINT32_C(0x80000000)) ^ UINT32_C(0x80000000); }
)"},
    {"kiln_f32_of_u32", "kiln_leading_zeros kiln_f32_rounded ", R"(
static uint32_t kiln_f32_of_u32(uint32_t number) {
    if (number == 0) return 0;
    const int32_t zeros = kiln_leading_zeros(number);
    const uint32_t bits = number << zeros;
    return kiln_f32_rounded(0, 158 - zeros, (bits >> 1) | (bits & 1));
}
)"},
    {"kiln_f32_of_i32", "kiln_leading_zeros kiln_f32_rounded kiln_f32_of_u32 ", R"(
static uint32_t kiln_f32_of_i32(int32_t number) {
    return number < 0 ? UINT32_C(0x80000000) | kiln_f32_of_u32(0 - (uint32_t)number) : kiln_f32_of_u32((uint32_t)number);
}
)"},
    // Cut off. What the type does not have is its largest or smallest number.
    {"kiln_u32_of_f32", "", R"(
static uint32_t kiln_u32_of_f32(uint32_t a) {
    if (a >> 31 || a < UINT32_C(0x3f800000)) return 0;
    if (a >= UINT32_C(0x4f800000)) return UINT32_MAX;
    const uint32_t exponent = a >> 23, bits = (a & UINT32_C(0x7fffff)) | UINT32_C(0x800000);
    return exponent < 150 ? bits >> (150 - exponent) : bits << (exponent - 150);
}
)"},
    {"kiln_i32_of_f32", "kiln_u32_of_f32 ", R"(
static int32_t kiln_i32_of_f32(uint32_t a) {
    const uint32_t size = kiln_u32_of_f32(a & UINT32_C(0x7fffffff));
    if (size > INT32_MAX) return a >> 31 ? INT32_MIN : INT32_MAX;
    return a >> 31 ? -(int32_t)size : (int32_t)size;
}
)"},
    // The product of a sum and a scale in f32, to the nearest integer: the requantization of ONNX.
    {"kiln_nearest_product",
     "kiln_leading_zeros kiln_f32_rounded kiln_f32_parts kiln_f32_multiply kiln_f32_round kiln_f32_of_u32 "
     "kiln_f32_of_i32 "
     "kiln_u32_of_f32 kiln_i32_of_f32 ",
     R"(
static int32_t kiln_nearest_product(int32_t sum, uint32_t scale) {
    return kiln_i32_of_f32(kiln_f32_round(kiln_f32_multiply(kiln_f32_of_i32(sum), scale)));
}
)"},
    // The same, by a scale of multiplier / 2^behind, whose multiplier has 24 bits and zeros. It is called for few
    // results from many places, so it is worth a call.
    {"kiln_nearest_scaled",
     "kiln_leading_zeros kiln_f32_rounded kiln_f32_parts kiln_f32_multiply kiln_f32_round kiln_f32_of_u32 "
     "kiln_f32_of_i32 "
     "kiln_u32_of_f32 kiln_i32_of_f32 kiln_nearest_product ",
     R"(
#ifdef __GNUC__
__attribute__((noinline))
#endif
static int32_t kiln_nearest_scaled(int32_t sum, uint32_t multiplier, uint32_t behind) {
    for (; (int32_t)multiplier > 0; behind++) multiplier <<= 1;
    return kiln_nearest_product(sum, ((158 - behind) << 23) | (multiplier >> 8 & UINT32_C(0x7fffff)));
}
)"},
    // The same, where the upper half of the product with the multiplier is known, and `rounding` is
    // a half and an integer that is added. Only beside a half can it matter that numbers of f32 are rounded before. `margin`: how near
    // that is.
    {"kiln_nearest",
     "kiln_leading_zeros kiln_f32_rounded kiln_f32_parts kiln_f32_multiply kiln_f32_round kiln_f32_of_u32 "
     "kiln_f32_of_i32 "
     "kiln_u32_of_f32 kiln_i32_of_f32 kiln_nearest_product kiln_nearest_scaled ",
     R"(
static inline int32_t kiln_nearest(int32_t sum, int32_t high, int32_t rounding, uint32_t shift, uint32_t margin, uint32_t multiplier,
                                   uint32_t behind) {
    const int32_t nearest = high + rounding;
    if (((uint32_t)nearest << (32 - shift)) + margin < 2 * margin) {
        return kiln_nearest_scaled(sum, multiplier, behind) + (rounding >> shift);
    }
    return nearest >> shift;
}
)"},
};

}  // namespace

std::span<const CFloatFunction> c_float_functions() { return functions; }

}  // namespace kiln
