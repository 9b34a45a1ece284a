#include "workload/machine.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kiln {
namespace {

std::string first_line(const std::string &path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// Linux's description of this CPU's caches: sizes as "32K", types Data, Instruction, Unified.
int64_t cache_bytes(int level) {
    for (int index = 0; index < 8; index++) {
        const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
        if (first_line(folder + "level") != std::to_string(level)) continue;
        if (first_line(folder + "type") == "Instruction") continue;
        std::istringstream size(first_line(folder + "size"));
        int64_t value = 0;
        char unit = ' ';
        size >> value >> unit;
        return unit == 'K' ? value << 10 : unit == 'M' ? value << 20 : value;
    }
    return 0;
}

std::string collapse_blanks(const std::string &text) {
    std::istringstream words(text);
    std::string result, word;
    while (words >> word) result += (result.empty() ? "" : " ") + word;
    return result;
}

#if defined(__x86_64__)
struct Registers {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
    Registers r;
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

bool bit(unsigned word, int position) { return word >> position & 1; }

uint64_t enabled_state() {  // XCR0: the register state that the system saves; a feature without it must not be used
    if (!bit(cpuid(1).ecx, 27)) return 0;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return uint64_t(high) << 32 | low;
}

struct Identity {
    std::string vendor;
    unsigned family = 0, model = 0, stepping = 0;
};

Identity read_identity() {
    const Registers zero = cpuid(0), one = cpuid(1);
    Identity id;
    for (unsigned word : {zero.ebx, zero.edx, zero.ecx}) {
        for (int i = 0; i < 4; i++) id.vendor += static_cast<char>(word >> 8 * i);
    }
    id.family = one.eax >> 8 & 15;
    id.model = one.eax >> 4 & 15;
    id.stepping = one.eax & 15;
    if (id.family == 6 || id.family == 15) id.model |= (one.eax >> 16 & 15) << 4;
    if (id.family == 15) id.family += one.eax >> 20 & 255;
    return id;
}

// Halide's features, by the bits of Intel's and AMD's manuals. The sub-families of AVX-512 are Halide's own sets of
// bits.
std::string x86_target(const Identity &id) {
    const Registers one = cpuid(1), seven = cpuid(7), seven_one = cpuid(7, 1);
    const uint64_t state = enabled_state();
    const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6;
    std::vector<std::string> found;
    auto add = [&](const char *name, bool has) {
        if (has) found.push_back(name);
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
    add("avx512_zen4", vnni_bf16 && id.vendor == "AuthenticAMD" && id.family >= 0x19);
    add("avx512_sapphirerapids", vnni_bf16 && bit(seven_one.eax, 4) && bit(seven.edx, 22) && bit(seven.edx, 24) &&
                                     (state & 0x60000) == 0x60000);  // AVX_VNNI, AMX with its state
    std::sort(found.begin(), found.end());
    std::string target = "x86-64-linux";
    for (const std::string &feature : found) target += "-" + feature;
    return target;
}

std::string brand_string() {
    std::string brand;
    if (cpuid(0x80000000).eax < 0x80000004) return "x86-64";
    for (unsigned leaf = 0x80000002; leaf <= 0x80000004; leaf++) {
        const Registers r = cpuid(leaf);
        for (unsigned word : {r.eax, r.ebx, r.ecx, r.edx}) {
            for (int i = 0; i < 4; i++) {
                if (const char c = static_cast<char>(word >> 8 * i)) brand += c;
            }
        }
    }
    return collapse_blanks(brand);
}
#endif

}  // namespace

Machine read_machine() {
    Machine machine;
#if defined(__x86_64__)
    const Identity id = read_identity();
    machine.cpu_id = id.vendor + "-" + std::to_string(id.family) + "-" + std::to_string(id.model) + "-" +
                     std::to_string(id.stepping);
    machine.cpu_model = brand_string();
    machine.halide_target = x86_target(id);
#elif defined(__aarch64__)
    machine.cpu_id = machine.cpu_model = "aarch64";
    machine.halide_target = "arm-64-linux";
#else
#error "kiln runs on x86-64 and aarch64"
#endif
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) machine.cores = std::max(1, CPU_COUNT(&allowed));
    if (const int64_t bytes = cache_bytes(1)) machine.l1_bytes = bytes;
    if (const int64_t bytes = cache_bytes(2)) machine.l2_bytes = bytes;
    machine.l3_bytes = cache_bytes(3);
    return machine;
}

std::string key(const Machine &m) {
    return m.cpu_id + "/l1:" + std::to_string(m.l1_bytes) + "/l2:" + std::to_string(m.l2_bytes) +
           "/l3:" + std::to_string(m.l3_bytes) + "/cores:" + std::to_string(m.cores) + "/" + m.cpu_model;
}

}  // namespace kiln
