#include "tuner/runner/sentinel.h"

#include <gtest/gtest.h>

#include "tuner/runner/cache.h"

namespace kiln {
namespace {

TEST(MemorySentinel, SpeedsArePlausible) {
    const std::vector<std::byte> a(3 << 20), b(5 << 20), none;
    const MemorySpeed speed = MemorySentinel({a, none, b}, 6 << 20).measure();
    EXPECT_GT(speed.l3, 0.1);
    EXPECT_LT(speed.l3, 10000);
    EXPECT_EQ(speed.dram > 0, can_evict_lines());
    EXPECT_LT(speed.dram, 10000);
}

TEST(MemorySentinel, WithoutOperandsThereIsNoSpeed) {
    EXPECT_EQ(MemorySentinel({}, 6 << 20).measure(), MemorySpeed());
    const std::vector<std::byte> a(3 << 20);
    EXPECT_EQ(MemorySentinel({a}, 0).measure(), MemorySpeed());
}

}  // namespace
}  // namespace kiln
