// Every index, at every distance from the ends of vectors, and nothing behind the last.
#include "runtime/lookup/byte_lookup.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#if defined(__x86_64__)

namespace kiln {
namespace {

using LookUp = decltype(&kiln_look_up1_avx2);

std::vector<std::pair<const char *, LookUp>> lookups_of_this_cpu() {
    std::vector<std::pair<const char *, LookUp>> all;
    if (__builtin_cpu_supports("avx2")) all.emplace_back("avx2", kiln_look_up1_avx2);
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi"))
        all.emplace_back("avx512vbmi", kiln_look_up1_avx512vbmi);
    return all;
}

std::vector<uint8_t> table_of_places() {
    std::vector<uint8_t> table(256);
    for (int i = 0; i < 256; i++) table[i] = uint8_t(i * 167 + 91);
    return table;
}

TEST(ByteLookup, FindsWhatTheTableHas) {
    constexpr uint8_t untouched = 0x5a;
    const std::vector<uint8_t> table = table_of_places();
    for (const auto &[name, look_up] : lookups_of_this_cpu()) {
        for (const int flip : {0, 128}) {
            for (const int count : {0, 1, 15, 16, 31, 33, 63, 64, 65, 127, 128, 300, 1031}) {
                std::vector<uint8_t> indices(count), result(count + 64, untouched);
                for (int i = 0; i < count; i++) indices[i] = uint8_t(i * 77 + 3);
                EXPECT_EQ(look_up(table.data(), indices.data(), result.data(), count, flip), 0);
                for (int i = 0; i < count; i++)
                    ASSERT_EQ(result[i], table[indices[i] ^ flip]) << name << ' ' << count << ' ' << i << ' ' << flip;
                for (int i = count; i < count + 64; i++)
                    ASSERT_EQ(result[i], untouched) << name << ' ' << count << ' ' << i;
                look_up(table.data(), indices.data(), indices.data(), count, flip);
                indices.resize(result.size(), untouched);
                EXPECT_EQ(indices, result) << name << ": in place, " << count;
            }
        }
    }
}

}  // namespace
}  // namespace kiln

#endif
