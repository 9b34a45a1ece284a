// What this machine can do at most, measured: the yardsticks that times are compared with. `share of peak` anywhere in
// kiln is a kernel's GFLOP/s over FmaPeak::gflops for the kernel's own target and number of threads.
//
// Nothing is assumed about the CPU (AVX-512 is 32 flop a cycle on Zen 4 and 64 on server Intel): registers full of
// independent multiply-adds are timed, and a chain of dependent integer additions, one a cycle on every CPU that
// matters, tells the frequency. The instructions are chosen by target, so this code itself runs on any x86-64; other
// architectures get a plain loop, whose result says so in `instructions`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

struct FmaPeak {
    std::string instructions;   // "AVX-512 FMA", "SSE multiply + add", "portable loop", ...
    double gflops = 0;          // f32, or operations of integers, 10^9 a second, all threads together
    double frequency_ghz = 0;   // of one core under this load
    double flop_per_cycle = 0;  // of one core
};

// With target.threads threads at once, each pinned to a core of its own. About 0.2 s; the best of several windows, so
// that a busy moment of the machine does not lower it. Precondition: this machine runs the target.
FmaPeak measure_fma_peak(const Target &target);

// The same of products of small integers, which shares of quantized convolutions are of.
FmaPeak measure_int8_peak(const Target &target);

// FmaPeak::instructions without measuring: targets with equal ones have the same peak.
std::string fma_instructions(const Target &target);
std::string int8_instructions(const Target &target);

struct Bandwidth {
    std::string level;              // "L1", "L2", "L3", "DRAM"
    int64_t working_set_bytes = 0;  // of one core, well inside its level
    double read_gb_s = 0;           // 10^9 bytes a second, all threads together
    double copy_gb_s = 0;           // bytes read plus bytes written
};

// The yardstick of data movement: how long a copy of `bytes` (rounded up to whole blocks) by plain stores takes, one
// sample a call, on one core, over the same memory again and again. Empty where there is not enough memory.
std::vector<double> copy_samples_ns(const Target &target, int64_t bytes, int64_t budget_ns);

// One entry for each cache that the machine has, and memory; about 0.5 s each.
std::vector<Bandwidth> measure_bandwidths(const Machine &machine, int threads);

}  // namespace kiln
