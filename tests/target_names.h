// Halide targets of CPUs whose defaults differ, as `host` says there.
#pragma once

namespace kiln {

inline constexpr const char *zen4_target =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41";
inline constexpr const char *zen5_target =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-avx512_zen5-avxvnni-f16c-fma-sse41";

}  // namespace kiln
