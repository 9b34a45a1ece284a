// The CPU features that kernels may need, as bits: the ones of Halide's x86 target strings, and avx512_icelake, which Halide
// does not tell apart. A package's rows carry the bits they need, and dispatch compares them with what the CPU reports and the
// operating system enabled.
//
// One row says everything about a feature: its name, its bits of CPUID and the width of its vectors. Targets, the
// machine's own target string and the checks of packages follow from the table.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stdint.h>

namespace kiln {

// Words of CPUID, by leaf and register; in a row, the bits that must all be set.
struct CpuidWords {
    uint32_t ecx1 = 0, ebx7 = 0, ecx7 = 0, edx7 = 0, eax7_1 = 0;
};

// State of registers that the operating system must save (XCR0).
enum RegisterState : uint64_t { no_state = 0, ymm_state = 0x6, zmm_state = 0xe6, tile_state = 0x60000 };

struct CpuFeature {
    const char *name;  // in a target string
    uint64_t bit;
    uint64_t needs;  // bits of features that come before it in the table
    CpuidWords cpuid;
    uint64_t state = no_state;
    int vector_bytes = 16, vector_registers = 16;  // with this feature
    // The features alone do not tell CPUs apart for which Halide tunes differently: the least family of AMD's. 0: any maker.
    uint32_t amd_family = 0;
    // Bits of features that come before it in the table. A CPU with this one has them, and no target string names both.
    uint64_t includes = 0;
};

constexpr uint32_t cpuid_bits() { return 0; }
template<typename... Rest>
constexpr uint32_t cpuid_bits(int first, Rest... rest) {
    return uint32_t(1) << first | cpuid_bits(rest...);
}

// The bits are those of Intel's and AMD's manuals. Halide defines the sub-families of AVX-512 and all names. A
// feature's own bit is private to a package, so rows may be reordered. The table is not inline: an inline variable is
// unique in a whole program, and packages must not share anything.
constexpr CpuFeature cpu_features[] = {
    {"sse41", 1 << 0, 0, {.ecx1 = cpuid_bits(19)}},
    {"avx", 1 << 1, 0, {.ecx1 = cpuid_bits(28)}, ymm_state, 32},
    {"f16c", 1 << 2, 1 << 1, {.ecx1 = cpuid_bits(29)}},
    {"fma", 1 << 3, 1 << 1, {.ecx1 = cpuid_bits(12)}},
    // Halide compiles for it as for Haswell, whatever else a target names: with FMA, MOVBE, POPCNT, F16C, BMI1 and BMI2. Some CPUs
    // have AVX2 without FMA (Zhaoxin's).
    {"avx2", 1 << 4, 1 << 1, {.ecx1 = cpuid_bits(12, 22, 23, 29), .ebx7 = cpuid_bits(3, 5, 8)}, ymm_state, 32},
    {"avx512", 1 << 5, 1 << 4, {.ebx7 = cpuid_bits(16, 28)}, zmm_state, 64, 32},              // F, CD
    {"avx512_skylake", 1 << 6, 1 << 5, {.ebx7 = cpuid_bits(31, 30, 17)}, zmm_state, 64, 32},  // VL, BW, DQ
    {"avx512_cannonlake", 1 << 7, 1 << 6, {.ebx7 = cpuid_bits(21), .ecx7 = cpuid_bits(1)}, zmm_state, 64, 32},  // IFMA,
                                                                                                                // VBMI
    // VBMI2, GFNI, VNNI, BITALG, VPOPCNTDQ: all that later CPUs have for integers of 8 and 16 bits. BF16 is not among them.
    {"avx512_icelake", 1 << 12, 1 << 7, {.ecx7 = cpuid_bits(6, 8, 11, 12, 14)}, zmm_state, 64, 32},
    // VNNI, BF16
    {"avx512_zen4",
     1 << 8,
     1 << 7,
     {.ecx7 = cpuid_bits(11), .eax7_1 = cpuid_bits(5)},
     zmm_state,
     64,
     32,
     0x19,
     1 << 12},
    {"avxvnni", 1 << 10, 1 << 4, {.eax7_1 = cpuid_bits(4)}, ymm_state, 32},
    // VP2INTERSECT
    {"avx512_zen5", 1 << 11, 1 << 8 | 1 << 10, {.edx7 = cpuid_bits(8)}, zmm_state, 64, 32, 0x1a},
    // These and AMX tiles, AMX bf16, AVX-VNNI
    {"avx512_sapphirerapids",
     1 << 9,
     1 << 7,
     {.ecx7 = cpuid_bits(11), .edx7 = cpuid_bits(22, 24), .eax7_1 = cpuid_bits(5, 4)},
     zmm_state | tile_state,
     64,
     32,
     0,
     1 << 12},
};

// What a CPU and its operating system say.
struct CpuReport {
    CpuidWords words;
    uint64_t state = no_state;
    uint32_t amd_family = 0;  // 0: not AMD's
};
uint64_t cpu_features_of(const CpuReport &report);

// What target strings do not name beside the rest of these features.
uint64_t unnamed_features(uint64_t features);

// Features for which tile registers (AMX) must be saved.
constexpr uint64_t features_with_tiles() {
    uint64_t features = 0;
    for (const CpuFeature &feature : cpu_features) {
        if ((feature.state & tile_state) != 0) features |= feature.bit;
    }
    return features;
}

// Whether the system is asked for tile registers, where the CPU has them. It gives them to the process for good, and then wants
// larger signal stacks of it; without them there is no feature that needs them.
enum class Tiles { asked_for, left_alone };

// Asks CPUID and XGETBV each time, which is slow under a hypervisor.
uint64_t read_cpu_features(Tiles tiles = Tiles::asked_for);

}  // namespace kiln
