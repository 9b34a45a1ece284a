// A target is what a kernel is compiled for: a Halide target string and the number of threads it may use.
//
// Only the string's form and the features of x86-64 are known here, without Halide: enough to refuse a misspelt
// feature before a compiler starts, to tell whether this machine can run the kernel, and to size vectors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct Target {
    std::string halide;  // "x86-64-linux-avx-avx2-f16c-fma-sse41", features sorted
    int threads = 1;
    bool operator==(const Target &) const = default;
};

struct TargetAlias {
    std::string_view name, halide, description;
};

// The aliases that `kiln targets` lists, narrowest first; `host` is not among them, it is what the machine says.
const std::vector<TargetAlias> &target_aliases();

// An alias, `host` (resolved to `host_halide`) or a Halide target string; the answer is canonical: features sorted,
// each once. An unknown part is an error that lists what is known.
Result<Target> parse_target(std::string_view text, int threads, std::string_view host_halide);

// A core without vectors and without floating point, such as RV32IM: its kernels are C, and a simulator judges and counts
// them (simulate/), whatever machine that runs on.
bool is_soft_core(const Target &target);

bool has_feature(const Target &target, std::string_view feature);
// Whether it multiplies and adds up four pairs of u8 and i8 in a lane of 512 bits (VNNI).
bool has_dot_products(const Target &target);
std::string architecture(const Target &target);  // "x86", "arm", ...

// Features that `target` needs and `host_halide` (a canonical string) does not have; empty when kernels for the target
// run here, or are simulated.
std::vector<std::string> missing_features(const Target &target, std::string_view host_halide);

int vector_bytes(const Target &target);      // 64 with AVX-512, 32 with AVX, 16 with SSE or NEON, 4 for a scalar target
int vector_lanes(const Target &target);      // of f32
int vector_registers(const Target &target);  // architectural vector registers

// "x86-64-linux-sse41/threads:2": the text of a target where one string is wanted.
std::string to_text(const Target &target);

}  // namespace kiln
