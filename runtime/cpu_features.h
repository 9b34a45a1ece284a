// The CPU features that kernels may need, as bits: the ones of Halide's x86 target strings. A package's rows carry the
// bits they need, and dispatch compares them with what the CPU reports and the operating system enabled.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <cstdint>

namespace kiln {

struct CpuFeature {
    const char *halide;  // its name in a Halide target string
    uint64_t bit;
};

// Bits are private to a package, so rows may be reordered; names are Halide's. Not inline: an inline variable is unique
// in a whole program, and packages must not share anything.
constexpr CpuFeature cpu_features[] = {
    {"sse41", 1 << 0},          {"avx", 1 << 1},
    {"f16c", 1 << 2},           {"fma", 1 << 3},
    {"avx2", 1 << 4},           {"avx512", 1 << 5},
    {"avx512_skylake", 1 << 6}, {"avx512_cannonlake", 1 << 7},
    {"avx512_zen4", 1 << 8},    {"avx512_sapphirerapids", 1 << 9},
};

// CPUID and XGETBV, each time; slow under a hypervisor.
uint64_t read_cpu_features();

}  // namespace kiln
