#include "workload/target.h"

#include <algorithm>
#include <array>

namespace kiln {
namespace {

// Every feature that AVX-512 as in Skylake servers implies in Halide's terms, so that strings compare by inclusion.
constexpr std::string_view avx512_halide = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

// Halide 21's names. Kept as a list, so that a misspelt feature is found before a compiler starts.
constexpr std::string_view architectures[] = {"arm", "hexagon", "powerpc", "riscv", "wasm", "x86"};
constexpr std::string_view systems[] = {"linux", "windows", "osx",     "android", "ios",
                                        "qurt",  "noos",    "fuchsia", "wasmrt"};
constexpr std::string_view features[] = {
    "arm_dot_prod",
    "arm_fp16",
    "armv7s",
    "armv81a",
    "armv82a",
    "armv83a",
    "armv84a",
    "armv85a",
    "armv86a",
    "armv87a",
    "armv88a",
    "armv89a",
    "avx",
    "avx10_1",
    "avx2",
    "avx512",
    "avx512_cannonlake",
    "avx512_knl",
    "avx512_sapphirerapids",
    "avx512_skylake",
    "avx512_zen4",
    "avx512_zen5",
    "avxvnni",
    "cl_doubles",
    "cl_half",
    "cuda",
    "f16c",
    "fma",
    "fma4",
    "hvx",
    "hvx_128",
    "hvx_v62",
    "hvx_v65",
    "hvx_v66",
    "hvx_v68",
    "large_buffers",
    "metal",
    "no_neon",
    "opencl",
    "power_arch_2_07",
    "rvv",
    "semihosting",
    "soft_float_abi",
    "sse41",
    "sve",
    "sve2",
    "vsx",
    "vulkan",
    "wasm_bulk_memory",
    "wasm_mvponly",
    "wasm_simd128",
    "wasm_threads",
    "webgpu",
    "x86apx",
};

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    for (;;) {
        const size_t end = text.find('-');
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

template<size_t N>
bool contains(const std::string_view (&list)[N], std::string_view text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool is_vector_bits(std::string_view part) {
    return part.starts_with("vector_bits_") && part.size() > 12 &&
           part.find_first_not_of("0123456789", 12) == std::string_view::npos;
}

std::vector<std::string> features_of(std::string_view halide) {
    std::vector<std::string> parts = split(halide);
    parts.erase(parts.begin(), parts.begin() + std::min<size_t>(3, parts.size()));
    return parts;
}

}  // namespace

const std::vector<TargetAlias> &target_aliases() {
    static const std::vector<TargetAlias> aliases = {
        {"baseline", "x86-64-linux", "any x86-64 CPU (SSE2)"},
        {"sse41", "x86-64-linux-sse41", "x86-64 with SSE4.1, 2008 and later"},
        {"avx2", "x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-v3: AVX2 and FMA, 2013 and later"},
        {"avx512", avx512_halide, "x86-64-v4: AVX-512 as in Skylake servers and Zen 4"},
    };
    return aliases;
}

Result<Target> parse_target(std::string_view text, int threads, std::string_view host_halide) {
    if (threads < 1 || threads > 1024) {
        return Error{ErrorCode::usage, "threads is " + std::to_string(threads) + "; needs 1 to 1024"};
    }
    if (text == "host") text = host_halide;
    for (const TargetAlias &alias : target_aliases()) {
        if (alias.name == text) text = alias.halide;
    }
    const std::string where = "target `" + std::string(text) + "`: ";
    std::vector<std::string> parts = split(text);
    if (parts.size() < 3 || !contains(architectures, parts[0])) {
        std::string known = "host";
        for (const TargetAlias &alias : target_aliases()) known += ", " + std::string(alias.name);
        return Error{ErrorCode::usage, where + "neither an alias (" + known +
                                           ") nor a Halide target string such as x86-64-linux-avx2-fma"};
    }
    if (parts[1] != "32" && parts[1] != "64") return Error{ErrorCode::usage, where + "bits must be 32 or 64"};
    if (!contains(systems, parts[2])) return Error{ErrorCode::usage, where + "unknown system `" + parts[2] + "`"};
    std::sort(parts.begin() + 3, parts.end());
    parts.erase(std::unique(parts.begin() + 3, parts.end()), parts.end());
    Target target{parts[0] + "-" + parts[1] + "-" + parts[2], threads};
    for (size_t i = 3; i < parts.size(); i++) {
        if (!contains(features, parts[i]) && !is_vector_bits(parts[i])) {
            return Error{ErrorCode::usage, where + "unknown feature `" + parts[i] + "`; `kiln targets` lists targets"};
        }
        target.halide += "-" + parts[i];
    }
    return target;
}

bool has_feature(const Target &target, std::string_view feature) {
    const auto list = features_of(target.halide);
    return std::find(list.begin(), list.end(), feature) != list.end();
}

std::string architecture(const Target &target) { return split(target.halide)[0]; }

std::vector<std::string> missing_features(const Target &target, std::string_view host_halide) {
    const auto wanted = split(target.halide), here = split(host_halide);
    std::vector<std::string> missing;
    for (size_t i = 0; i < wanted.size(); i++) {
        const bool found =
            i < 3 ? wanted[i] == here[i] : std::find(here.begin() + 3, here.end(), wanted[i]) != here.end();
        if (!found) missing.push_back(wanted[i]);
    }
    return missing;
}

int vector_bytes(const Target &target) {
    const std::string arch = architecture(target);
    for (const std::string &feature : features_of(target.halide)) {
        if (is_vector_bits(feature)) return std::max(4, std::stoi(feature.substr(12)) / 8);
    }
    if (arch == "x86") {
        for (const std::string &feature : features_of(target.halide)) {
            if (feature.starts_with("avx512") || feature == "avx10_1") return 64;
        }
        return has_feature(target, "avx") || has_feature(target, "avx2") ? 32 : 16;
    }
    if (arch == "arm") return has_feature(target, "no_neon") ? 4 : 16;
    if (arch == "wasm") return has_feature(target, "wasm_simd128") ? 16 : 4;
    if (arch == "powerpc") return 16;
    return 4;
}

int vector_lanes(const Target &target) { return vector_bytes(target) / 4; }

int vector_registers(const Target &target) {
    const std::string arch = architecture(target);
    if (arch == "x86") return vector_bytes(target) == 64 ? 32 : 16;
    if (arch == "arm") return split(target.halide)[1] == "64" ? 32 : 16;
    return arch == "riscv" || arch == "powerpc" ? 32 : 16;
}

std::string to_text(const Target &target) { return target.halide + "/threads:" + std::to_string(target.threads); }

}  // namespace kiln
