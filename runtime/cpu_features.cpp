#include "runtime/cpu_features.h"

#include <string.h>

#include "runtime/cpuid.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace kiln {

namespace {

bool has_all(const CpuidWords &words, const CpuidWords &wanted) {
    return (wanted.ecx1 & ~words.ecx1) == 0 && (wanted.ebx7 & ~words.ebx7) == 0 && (wanted.ecx7 & ~words.ecx7) == 0 &&
           (wanted.edx7 & ~words.edx7) == 0 && (wanted.eax7_1 & ~words.eax7_1) == 0;
}

}  // namespace

uint64_t cpu_features_of(const CpuReport &report) {
    uint64_t found = 0;
    for (const CpuFeature &feature : cpu_features) {
        const bool has = (feature.needs & ~found) == 0 && (feature.state & ~report.state) == 0 &&
                         has_all(report.words, feature.cpuid) && report.amd_family >= feature.amd_family;
        if (has) found |= feature.bit | feature.includes;
    }
    return found;
}

uint64_t unnamed_features(uint64_t features) {
    uint64_t unnamed = 0;
    for (const CpuFeature &feature : cpu_features) {
        if (features & feature.bit) unnamed |= feature.includes;
    }
    return unnamed;
}

#if defined(__x86_64__)
namespace {

// Linux gives tile registers to processes that ask, and stops others at the first instruction that uses them. What was given stays,
// also for threads that are started later.
bool may_use_tiles() {
#if defined(__linux__)
    constexpr long request = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILE_DATA
    return syscall(SYS_arch_prctl, request, tile_data) == 0;
#else
    return false;
#endif
}

// XCR0: the register state that the system saves. A feature whose state it does not save must not be used.
uint64_t enabled_state(Tiles tiles) {
    if (!(cpuid(1).ecx >> 27 & 1)) return 0;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    const uint64_t state = uint64_t(high) << 32 | low;
    const bool has_tiles = (state & tile_state) == tile_state && tiles == Tiles::asked_for && may_use_tiles();
    return has_tiles ? state : state & ~uint64_t(tile_state);
}

CpuidWords read_words() {
    const CpuidRegisters seven = cpuid(7);
    return {.ecx1 = cpuid(1).ecx, .ebx7 = seven.ebx, .ecx7 = seven.ecx, .edx7 = seven.edx, .eax7_1 = cpuid(7, 1).eax};
}

}  // namespace

uint64_t read_cpu_features(Tiles tiles) {
    const CpuIdentity id = read_cpu_identity();
    return cpu_features_of(
        {read_words(), enabled_state(tiles), strcmp(id.vendor, "AuthenticAMD") == 0 ? id.family : 0});
}

#else

uint64_t read_cpu_features(Tiles) { return 0; }

#endif

}  // namespace kiln
