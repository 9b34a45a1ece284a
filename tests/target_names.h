// Halide targets of CPUs whose defaults differ, as `host` says there, and machines of some.
#pragma once

#include "workload/machine.h"

namespace kiln {

inline constexpr const char *zen4_target =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-f16c-fma-sse41";
inline constexpr const char *zen5_target =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_skylake-avx512_zen4-avx512_zen5-avxvnni-f16c-fma-sse41";

inline constexpr const char *emerald_rapids_target =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_icelake-avx512_skylake-avxvnni-f16c-fma-sse41";

inline Machine machine_of_emerald_rapids() {
    Machine machine;
    machine.cpu_id = "GenuineIntel-6-207-2";
    machine.l1_bytes = 48 << 10, machine.l2_bytes = 2 << 20, machine.l3_bytes = 260 << 20;
    return machine;
}

inline Machine machine_of_zen2() {
    Machine machine;
    machine.cpu_id = "AuthenticAMD-23-49-0";
    machine.l1_bytes = 32 << 10, machine.l2_bytes = 512 << 10, machine.l3_bytes = 16 << 20;
    return machine;
}

inline Machine machine_of_zen3() {
    Machine machine;
    machine.cpu_id = "AuthenticAMD-25-1-1";
    machine.l1_bytes = 32 << 10, machine.l2_bytes = 512 << 10, machine.l3_bytes = 32 << 20;
    return machine;
}

inline Machine machine_of_zen5() {
    Machine machine;
    machine.l1_bytes = 48 << 10, machine.l2_bytes = 1 << 20, machine.l3_bytes = 32 << 20;
    return machine;
}

}  // namespace kiln
