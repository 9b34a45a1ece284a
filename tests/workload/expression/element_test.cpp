#include "workload/expression/element.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace kiln::scalar {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr Element all[] = {Element::f32, Element::f64, Element::f16,    Element::bf16, Element::i8,
                           Element::u8,  Element::i16, Element::u16,    Element::i32,  Element::u32,
                           Element::i64, Element::u64, Element::boolean};

uint64_t bits_of(Element type, double value) {
    std::array<std::byte, 9> bytes{};
    write_float(type, value, bytes.data() + 1);  // nothing is aligned
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + 1, size_of(type));
    return bits;
}

TEST(Element, names_are_frozen) {
    const char *names[] = {"f32", "f64", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool"};
    const int sizes[] = {4, 8, 2, 2, 1, 1, 2, 2, 4, 4, 8, 8, 1};
    for (size_t i = 0; i < std::size(all); i++) {
        EXPECT_EQ(name(all[i]), names[i]);
        EXPECT_EQ(parse_element(names[i]), all[i]);
        EXPECT_EQ(size_of(all[i]), sizes[i]) << names[i];
        EXPECT_EQ(is_float(all[i]), i < 4) << names[i];
    }
    for (const char *other : {"", "f", "F32", "float", "i64 ", "boolean"}) EXPECT_FALSE(parse_element(other)) << other;
}

TEST(Element, limits_of_floats) {
    const struct {
        Element type;
        uint64_t largest, smallest;  // bits
    } rows[] = {{Element::f32, 0x7f7fffff, 0x00800000},
                {Element::f64, 0x7fefffffffffffff, 0x0010000000000000},
                {Element::f16, 0x7bff, 0x0400},
                {Element::bf16, 0x7f7f, 0x0080}};
    for (const auto &row : rows) {
        EXPECT_EQ(bits_of(row.type, largest_finite(row.type)), row.largest) << name(row.type);
        EXPECT_EQ(bits_of(row.type, smallest_normal(row.type)), row.smallest) << name(row.type);
    }
}

TEST(Element, bits_of_floats) {
    struct Row {
        Element type;
        double value;
        uint64_t bits;
    };
    const Row rows[] = {
        {Element::f16, 0, 0},
        {Element::f16, -0.0, 0x8000},
        {Element::f16, 1, 0x3c00},
        {Element::f16, -2, 0xc000},
        {Element::f16, 65504, 0x7bff},
        {Element::f16, 65519.99, 0x7bff},
        {Element::f16, 65520, 0x7c00},
        {Element::f16, 1e300, 0x7c00},
        {Element::f16, -infinity, 0xfc00},
        {Element::f16, nan, 0x7e00},
        {Element::f16, 0x1p-14, 0x0400},
        {Element::f16, 0x1p-24, 1},
        {Element::f16, 0x1p-25, 0},           // a tie, to even
        {Element::f16, 0x1.8p-24, 2},         // a tie, to even
        {Element::f16, 0x1.000002p-25, 1},    // past the tie
        {Element::f16, 0x1.ff8p-15, 0x03ff},  // the largest subnormal number
        {Element::f16, 0x1.ffcp-15, 0x0400},  // a tie, to the least normal one
        {Element::f16, 2049, 0x6800},         // 2048: a tie, to even
        {Element::f16, 2051, 0x6802},
        {Element::f16, 2049 + 1e-9, 0x6801},  // over f32 it would be a tie
        {Element::bf16, 1, 0x3f80},
        {Element::bf16, 1 + 0x1p-8, 0x3f80},
        {Element::bf16, 1 + 0x1.8p-7, 0x3f82},
        {Element::bf16, 3.4e38, 0x7f80},
        {Element::bf16, 0x1p-133, 1},
        {Element::bf16, nan, 0x7fc0},
        {Element::f32, 1, 0x3f800000},
        {Element::f32, 1e300, 0x7f800000},
        {Element::f64, -1, 0xbff0000000000000},
    };
    for (const Row &row : rows) EXPECT_EQ(bits_of(row.type, row.value), row.bits) << name(row.type) << " " << row.value;
}

TEST(Element, every_16_bits_read_back) {
    for (Element type : {Element::f16, Element::bf16}) {
        for (uint32_t bits = 0; bits < 0x10000; bits++) {
            const auto stored = static_cast<uint16_t>(bits);
            const double value = read_float(type, reinterpret_cast<const std::byte *>(&stored));
            if (type == Element::bf16) {
                const double expected = std::bit_cast<float>(bits << 16);
                ASSERT_TRUE(value == expected || (std::isnan(value) && std::isnan(expected))) << bits;
            }
            if (std::isnan(value)) continue;
            ASSERT_EQ(bits_of(type, value), bits) << name(type);
        }
    }
}

TEST(Element, integers_saturate) {
    struct Row {
        Element type;
        double value;
        int64_t stored;
    };
    const Row rows[] = {
        {Element::i8, 127.4, 127},
        {Element::i8, 1000, 127},
        {Element::i8, -1000, -128},
        {Element::u8, -3, 0},
        {Element::u8, 255.5, 255},
        {Element::u8, 2.5, 2},
        {Element::i16, 1e9, 32767},
        {Element::u16, 1e9, 65535},
        {Element::i32, -infinity, INT32_MIN},
        {Element::u32, infinity, UINT32_MAX},
        {Element::i64, 0x1p63, INT64_MAX},
        {Element::i64, -1e30, INT64_MIN},
        {Element::u64, 0x1p64, INT64_MAX},
        {Element::u64, -1, 0},
        {Element::i32, nan, 0},
        {Element::u64, nan, 0},
        {Element::boolean, 0.25, 1},
        {Element::boolean, 0, 0},
        {Element::boolean, -7, 1},
    };
    for (const Row &row : rows) {
        std::array<std::byte, 8> bytes{};
        write_float(row.type, row.value, bytes.data());
        EXPECT_EQ(read_integer(row.type, bytes.data()), row.stored) << name(row.type) << " " << row.value;
    }
    for (Element type : all) {
        for (int64_t value : {INT64_MIN, int64_t{-1}, int64_t{0}, int64_t{1}, INT64_MAX}) {
            std::array<std::byte, 8> bytes{};
            write_integer(type, value, bytes.data());
            const int64_t stored = read_integer(type, bytes.data());
            if (type == Element::boolean) {
                EXPECT_EQ(stored, value != 0);
            } else if (type == Element::f16 && (value == INT64_MIN || value == INT64_MAX)) {
                EXPECT_EQ(read_float(type, bytes.data()), value < 0 ? -infinity : infinity);
            } else if (value >= -1 && value <= 1) {
                EXPECT_EQ(stored,
                          type == Element::u8 || type == Element::u16 || type == Element::u32 || type == Element::u64
                              ? std::max<int64_t>(value, 0)
                              : value)
                    << name(type);
            } else {
                EXPECT_EQ(stored > 0, value > 0) << name(type);
            }
        }
    }
}

}  // namespace
}  // namespace kiln::scalar
