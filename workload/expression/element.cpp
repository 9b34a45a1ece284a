#include "workload/expression/element.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::scalar {
namespace {

struct ElementRow {
    Element type;
    std::string_view name;
    int size;
    bool is_float;
};

constexpr std::array<ElementRow, 13> element_rows{{
    {Element::f32, "f32", 4, true},
    {Element::f64, "f64", 8, true},
    {Element::f16, "f16", 2, true},
    {Element::bf16, "bf16", 2, true},
    {Element::i8, "i8", 1, false},
    {Element::u8, "u8", 1, false},
    {Element::i16, "i16", 2, false},
    {Element::u16, "u16", 2, false},
    {Element::i32, "i32", 4, false},
    {Element::u32, "u32", 4, false},
    {Element::i64, "i64", 8, false},
    {Element::u64, "u64", 8, false},
    {Element::boolean, "bool", 1, false},
}};

const ElementRow &row_of(Element type) {
    for (const ElementRow &row : element_rows) {
        if (row.type == type) return row;
    }
    return element_rows[0];
}

template<typename T>
T load(const std::byte *bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

template<typename T>
void store(T value, std::byte *bytes) {
    std::memcpy(bytes, &value, sizeof value);
}

// A floating type of 16 bits: a sign, exponent bits with a bias, mantissa bits.
struct Narrow {
    int mantissa_bits, bias;
    int largest_exponent() const { return 2 * bias + 1; }  // of infinities and NaNs, as stored
};
constexpr Narrow narrow_f16{10, 15}, narrow_bf16{7, 127};

double widen(uint16_t bits, Narrow format) {
    const int exponent = (bits & 0x7fff) >> format.mantissa_bits;
    const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
    double value;
    if (exponent == format.largest_exponent()) {
        value = mantissa == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent == 0) {
        value = std::ldexp(mantissa, 1 - format.bias - format.mantissa_bits);
    } else {
        value = std::ldexp(mantissa + (1 << format.mantissa_bits), exponent - format.bias - format.mantissa_bits);
    }
    return bits & 0x8000 ? -value : value;
}

// Straight from a double: over f32 it would be rounded twice.
uint16_t narrow(double value, Narrow format) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const int infinity = format.largest_exponent() << format.mantissa_bits;
    if (std::isnan(value)) return static_cast<uint16_t>(sign | infinity | 1 << (format.mantissa_bits - 1));
    if (std::isinf(value)) return static_cast<uint16_t>(sign | infinity);
    const double size = std::fabs(value);
    int exponent = 1 - format.bias;  // of subnormal numbers and of 0
    if (size >= std::ldexp(1.0, exponent)) exponent = std::ilogb(size);
    if (exponent > format.bias) return static_cast<uint16_t>(sign | infinity);
    // A sum of exponent and mantissa: the mantissa's leading bit is one unit of the exponent, and so is a carry.
    const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(size, format.mantissa_bits - exponent)));
    return static_cast<uint16_t>(sign | (((exponent + format.bias - 1) << format.mantissa_bits) + mantissa));
}

template<typename T>
T saturated(int64_t value) {
    if constexpr (sizeof(T) < 8) {
        if (value < std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
        if (value > std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
    } else if constexpr (std::is_unsigned_v<T>) {
        if (value < 0) return 0;
    }
    return static_cast<T>(value);
}

int64_t nearest_integer(double value) {
    if (std::isnan(value)) return 0;
    if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
    if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
    return static_cast<int64_t>(std::nearbyint(value));
}

uint64_t nearest_unsigned(double value) {
    if (!(value > 0)) return 0;
    if (value >= 0x1p64) return std::numeric_limits<uint64_t>::max();
    return static_cast<uint64_t>(std::nearbyint(value));
}

}  // namespace

int size_of(Element type) { return row_of(type).size; }
bool is_float(Element type) { return row_of(type).is_float; }
std::string_view name(Element type) { return row_of(type).name; }

double largest_finite(Element type) {
    switch (type) {
        case Element::f64:
            return std::numeric_limits<double>::max();
        case Element::f16:
            return 65504;
        case Element::bf16:
            return 0x1.fep127;
        default:
            return std::numeric_limits<float>::max();
    }
}

double smallest_normal(Element type) {
    switch (type) {
        case Element::f64:
            return std::numeric_limits<double>::min();
        case Element::f16:
            return 0x1p-14;
        default:
            return std::numeric_limits<float>::min();
    }
}

std::optional<Element> parse_element(std::string_view text) {
    for (const ElementRow &row : element_rows) {
        if (row.name == text) return row.type;
    }
    return std::nullopt;
}

double read_float(Element type, const std::byte *bytes) {
    switch (type) {
        case Element::f32:
            return load<float>(bytes);
        case Element::f64:
            return load<double>(bytes);
        case Element::f16:
            return widen(load<uint16_t>(bytes), narrow_f16);
        case Element::bf16:
            return widen(load<uint16_t>(bytes), narrow_bf16);
        case Element::u64:
            return static_cast<double>(load<uint64_t>(bytes));
        default:
            return static_cast<double>(read_integer(type, bytes));
    }
}

int64_t read_integer(Element type, const std::byte *bytes) {
    switch (type) {
        case Element::i8:
            return load<int8_t>(bytes);
        case Element::u8:
            return load<uint8_t>(bytes);
        case Element::i16:
            return load<int16_t>(bytes);
        case Element::u16:
            return load<uint16_t>(bytes);
        case Element::i32:
            return load<int32_t>(bytes);
        case Element::u32:
            return load<uint32_t>(bytes);
        case Element::i64:
            return load<int64_t>(bytes);
        case Element::u64: {
            const auto value = load<uint64_t>(bytes);
            const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
            return static_cast<int64_t>(value < most ? value : most);
        }
        case Element::boolean:
            return load<uint8_t>(bytes) != 0;
        default:  // a float
            return nearest_integer(read_float(type, bytes));
    }
}

void write_float(Element type, double value, std::byte *bytes) {
    switch (type) {
        case Element::f32:
            return store(static_cast<float>(value), bytes);
        case Element::f64:
            return store(value, bytes);
        case Element::f16:
            return store(narrow(value, narrow_f16), bytes);
        case Element::bf16:
            return store(narrow(value, narrow_bf16), bytes);
        case Element::u64:
            return store(nearest_unsigned(value), bytes);
        case Element::boolean:
            return store<uint8_t>(value != 0, bytes);
        default:
            return write_integer(type, nearest_integer(value), bytes);
    }
}

void write_integer(Element type, int64_t value, std::byte *bytes) {
    switch (type) {
        case Element::i8:
            return store(saturated<int8_t>(value), bytes);
        case Element::u8:
            return store(saturated<uint8_t>(value), bytes);
        case Element::i16:
            return store(saturated<int16_t>(value), bytes);
        case Element::u16:
            return store(saturated<uint16_t>(value), bytes);
        case Element::i32:
            return store(saturated<int32_t>(value), bytes);
        case Element::u32:
            return store(saturated<uint32_t>(value), bytes);
        case Element::i64:
            return store(value, bytes);
        case Element::u64:
            return store(saturated<uint64_t>(value), bytes);
        case Element::boolean:
            return store<uint8_t>(value != 0, bytes);
        default:  // a float
            return write_float(type, static_cast<double>(value), bytes);
    }
}

}  // namespace kiln::scalar
