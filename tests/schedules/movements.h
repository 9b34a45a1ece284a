// Movements, a target and a core that tests of the movement's spaces share.
#pragma once

#include <gtest/gtest.h>

#include "rewrites/movement.h"
#include "workload/core.h"

namespace kiln {

inline constexpr const char *avx512 = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

inline Movement movement_of(const char *key) {
    const auto w = parse_workload_key(key);
    EXPECT_TRUE(w) << w.error().message;
    return movement(*w);
}

inline Core large_caches() {
    Core core;
    core.l2_bytes = 1 << 20, core.l3_bytes = 32 << 20;
    return core;
}

}  // namespace kiln
