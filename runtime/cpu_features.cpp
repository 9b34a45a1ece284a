#include "runtime/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kiln {

#if defined(__x86_64__)
namespace {

struct Registers {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
    Registers r;
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

bool bit(unsigned word, int position) { return word >> position & 1; }

// XCR0: the register state that the system saves. A feature whose state it does not save must not be used.
uint64_t enabled_state() {
    if (!bit(cpuid(1).ecx, 27)) return 0;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

// Zen 4 and later; the features alone do not tell it from Intel's servers, and Halide tunes for it.
bool is_amd_zen4() {
    const Registers zero = cpuid(0);
    const unsigned version = cpuid(1).eax;
    const unsigned family = (version >> 8 & 15) + ((version >> 8 & 15) == 15 ? version >> 20 & 255 : 0);
    return zero.ebx == 0x68747541 && family >= 0x19;  // "Auth"enticAMD
}

uint64_t bit_of(const char *halide) {
    for (const CpuFeature &feature : cpu_features) {
        if (__builtin_strcmp(feature.halide, halide) == 0) return feature.bit;
    }
    __builtin_unreachable();
}

}  // namespace

// By the bits of Intel's and AMD's manuals; the sub-families of AVX-512 are Halide's own sets of them.
uint64_t read_cpu_features() {
    const Registers one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1);
    const uint64_t state = enabled_state();
    const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6, tiles = (state & 0x60000) == 0x60000;
    uint64_t found = 0;
    const auto add = [&](const char *name, bool has) {
        if (has) found |= bit_of(name);
        return has;
    };
    add("sse41", bit(one.ecx, 19));
    const bool avx = add("avx", ymm && bit(one.ecx, 28));
    add("f16c", avx && bit(one.ecx, 29));
    add("fma", avx && bit(one.ecx, 12));
    const bool avx2 = add("avx2", avx && bit(seven.ebx, 5));
    const bool avx512 = add("avx512", avx2 && zmm && bit(seven.ebx, 16) && bit(seven.ebx, 28));  // F, CD
    const bool skylake =
        add("avx512_skylake", avx512 && bit(seven.ebx, 31) && bit(seven.ebx, 30) && bit(seven.ebx, 17));   // VL, BW, DQ
    const bool cannonlake = add("avx512_cannonlake", skylake && bit(seven.ebx, 21) && bit(seven.ecx, 1));  // IFMA, VBMI
    const bool vnni_bf16 = cannonlake && bit(seven.ecx, 11) && bit(seven_one.eax, 5);
    add("avx512_zen4", vnni_bf16 && is_amd_zen4());
    add("avx512_sapphirerapids",
        vnni_bf16 && tiles && bit(seven_one.eax, 4) && bit(seven.edx, 22) && bit(seven.edx, 24));  // AVX_VNNI, AMX
    return found;
}

#else

uint64_t read_cpu_features() { return 0; }

#endif

}  // namespace kiln
