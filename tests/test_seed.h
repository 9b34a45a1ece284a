// What tests that draw start from: KILN_TEST_SEED, which ./test prints.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace kiln {

inline uint64_t from_environment(const char *name, uint64_t otherwise) {
    const char *text = std::getenv(name);
    return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline uint64_t test_seed() { return from_environment("KILN_TEST_SEED", 1); }

}  // namespace kiln
