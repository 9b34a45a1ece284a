// What tests that draw start from: KILN_TEST_SEED, which ./test prints. KILN_TEST_ALL: whether a table of cases is gone through as a
// whole where one run takes a part of it that the seed chooses.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace kiln {

inline uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline uint64_t test_seed() { return from_environment("KILN_TEST_SEED", 1); }

inline constexpr uint64_t runs_of_a_table = 5;  // that take all of its cases between them

// Of case `index` of a table, whether this run does all that there is to do: one case in `of`, or all.
inline bool is_turn(uint64_t index, uint64_t of = runs_of_a_table) {
    return from_environment("KILN_TEST_ALL", 0) != 0 || (index + test_seed()) % of == 0;
}

}  // namespace kiln
