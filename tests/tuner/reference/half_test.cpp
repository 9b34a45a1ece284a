#include "tuner/reference/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kiln {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

TEST(HalfTest, F16KnownValues) {
    struct Row {
        float value;
        uint16_t bits;
    };
    for (const Row &row : {Row{0.0f, 0x0000},
                           {-0.0f, 0x8000},
                           {1.0f, 0x3c00},
                           {-2.0f, 0xc000},
                           {65504.0f, 0x7bff},
                           {0x1p-14f, 0x0400},
                           {0x1p-24f, 0x0001},
                           {0x1.ff8p-15f, 0x03ff},
                           {infinity, 0x7c00}}) {
        EXPECT_EQ(float_to_f16(row.value), row.bits) << row.value;
        EXPECT_EQ(f16_to_float(row.bits), row.value) << row.bits;
    }
}

TEST(HalfTest, RoundsToNearestEven) {
    EXPECT_EQ(float_to_f16(1 + 0x1p-11f), 0x3c00);
    EXPECT_EQ(float_to_f16(1 + 0x1.8p-10f), 0x3c02);
    EXPECT_EQ(float_to_f16(1 + 0x1.002p-11f), 0x3c01);
    EXPECT_EQ(float_to_f16(65519.0f), 0x7bff);
    EXPECT_EQ(float_to_f16(65520.0f), 0x7c00);
    EXPECT_EQ(float_to_f16(0x1p-25f), 0x0000);
    EXPECT_EQ(float_to_f16(0x1.8p-24f), 0x0002);
    EXPECT_EQ(float_to_bf16(1 + 0x1p-8f), 0x3f80);
    EXPECT_EQ(float_to_bf16(1 + 0x1.8p-7f), 0x3f82);
    EXPECT_EQ(float_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(HalfTest, EveryPatternSurvivesTheRoundTrip) {
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        const float f16 = f16_to_float(uint16_t(bits)), bf16 = bf16_to_float(uint16_t(bits));
        if (std::isnan(f16)) {
            EXPECT_TRUE(std::isnan(f16_to_float(float_to_f16(f16))));
        } else {
            EXPECT_EQ(float_to_f16(f16), bits);
        }
        if (std::isnan(bf16)) {
            EXPECT_TRUE(std::isnan(bf16_to_float(float_to_bf16(bf16))));
        } else {
            EXPECT_EQ(float_to_bf16(bf16), bits);
        }
    }
}

}  // namespace
}  // namespace kiln
