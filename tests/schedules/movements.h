// Movements, a target and a machine that tests of the movement's spaces share.
#pragma once

#include <gtest/gtest.h>

#include "rewrites/movement.h"
#include "workload/machine.h"

namespace kiln {

inline constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

inline Movement movement_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return movement(*w);
}

inline Machine large_caches() {
    Machine machine;
    machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    return machine;
}

}  // namespace kiln
