#include "tuner/process/host_machine.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "runtime/cpu_features.h"
#include "runtime/cpuid.h"

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

#if defined(__x86_64__)
std::string collapse_blanks(const std::string &text) {
    std::istringstream words(text);
    std::string result, word;
    while (words >> word) result += (result.empty() ? "" : " ") + word;
    return result;
}

std::string brand_string() {
    if (cpuid(0x80000000).eax < 0x80000004) return "x86-64";
    std::string brand;
    for (unsigned leaf = 0x80000002; leaf <= 0x80000004; leaf++) {
        const CpuidRegisters r = cpuid(leaf);
        for (const unsigned word : {r.eax, r.ebx, r.ecx, r.edx}) {
            char part[sizeof word];
            std::memcpy(part, &word, sizeof word);
            brand.append(part, sizeof part);
        }
    }
    std::erase(brand, '\0');  // it is filled up with zeros, at either end
    return collapse_blanks(brand);
}

void read_cpu(Machine *machine) {
    const CpuIdentity id = read_cpu_identity();
    machine->cpu_id = std::string(id.vendor) + "-" + std::to_string(id.family) + "-" + std::to_string(id.model) + "-" +
                      std::to_string(id.stepping);
    machine->cpu_model = brand_string();
    std::vector<std::string> found;
    const uint64_t bits = read_cpu_features(), named = bits & ~unnamed_features(bits);
    for (const CpuFeature &feature : cpu_features) {
        if (named & feature.bit) found.push_back(feature.name);
    }
    std::sort(found.begin(), found.end());
    machine->halide_target = "x86-64-linux";
    for (const std::string &feature : found) machine->halide_target += "-" + feature;
}
#elif defined(__aarch64__)
void read_cpu(Machine *machine) {
    machine->cpu_id = machine->cpu_model = "aarch64";
    machine->halide_target = "arm-64-linux";
}
#else
#error "kiln runs on x86-64 and aarch64"
#endif

}  // namespace

Machine read_machine() {
    Machine machine;
    read_cpu(&machine);
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) machine.cores = std::max(1, CPU_COUNT(&allowed));
    if (const int64_t bytes = cache_bytes(1)) machine.l1_bytes = bytes;
    if (const int64_t bytes = cache_bytes(2)) machine.l2_bytes = bytes;
    machine.l3_bytes = cache_bytes(3);
    return machine;
}

}  // namespace kiln
