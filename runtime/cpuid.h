// CPUID of x86-64 and the identity of a CPU. No other place decodes it.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>
#include <string.h>

namespace kiln {

struct CpuidRegisters {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Answers zeros for a leaf that the CPU does not have.
inline CpuidRegisters cpuid(unsigned leaf, unsigned subleaf = 0) {
    CpuidRegisters r;
    __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
    return r;
}

struct CpuIdentity {
    char vendor[13] = {};  // "AuthenticAMD"
    unsigned family = 0, model = 0, stepping = 0;
};

inline CpuIdentity read_cpu_identity() {
    const CpuidRegisters zero = cpuid(0);
    const unsigned version = cpuid(1).eax;
    CpuIdentity id;
    memcpy(id.vendor, &zero.ebx, 4);
    memcpy(id.vendor + 4, &zero.edx, 4);
    memcpy(id.vendor + 8, &zero.ecx, 4);
    id.family = version >> 8 & 15;
    id.model = version >> 4 & 15;
    id.stepping = version & 15;
    if (id.family == 6 || id.family == 15) id.model |= (version >> 16 & 15) << 4;
    if (id.family == 15) id.family += version >> 20 & 255;
    return id;
}

}  // namespace kiln

#endif
