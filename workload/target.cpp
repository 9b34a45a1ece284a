#include "workload/target.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "runtime/cpu_features.h"
#include "text/excerpt.h"
#include "workload/number_text.h"

namespace kiln {
namespace {

constexpr std::string_view rv32im_halide = "riscv-32-noos";

// Every feature that AVX-512 as in Skylake servers implies in Halide's terms, so that strings compare by inclusion.
constexpr std::string_view avx512_halide = "x86-64-linux-avx-avx2-avx512-avx512_skylake-f16c-fma-sse41";

constexpr std::string_view avx512vnni_halide =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_icelake-avx512_skylake-f16c-fma-sse41";
constexpr std::string_view amx_halide =
    "x86-64-linux-avx-avx2-avx512-avx512_cannonlake-avx512_sapphirerapids-avx512_skylake-f16c-fma-sse41";

// Halide 21's names. Kept as a list, so that a misspelt feature is found before a compiler starts.
constexpr std::string_view architectures[] = {"arm", "hexagon", "powerpc", "riscv", "wasm", "x86"};
constexpr std::string_view systems[] = {"linux", "windows", "osx",     "android", "ios",
                                        "qurt",  "noos",    "fuchsia", "wasmrt"};
constexpr std::string_view features[] = {
    // besides those of cpu_features, which packages can look for
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
    "avx10_1",
    "avx512_knl",
    "cl_doubles",
    "cl_half",
    "cuda",
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

std::vector<std::string> parts_of(std::string_view halide) {
    const auto parts = split(halide, '-');
    return {parts.begin(), parts.end()};
}

template<size_t N>
bool contains(const std::string_view (&list)[N], std::string_view text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// N of "vector_bits_N".
std::optional<int> vector_bits(std::string_view part) {
    constexpr std::string_view beginning = "vector_bits_";
    if (!part.starts_with(beginning)) return std::nullopt;
    const auto bits = parse_integer(part.substr(beginning.size()));
    if (!bits || *bits < 8 || *bits > 65536) return std::nullopt;
    return static_cast<int>(*bits);
}

const CpuFeature *find_cpu_feature(std::string_view name) {
    const auto found =
        std::ranges::find(cpu_features, name, [](const CpuFeature &f) { return std::string_view(f.name); });
    return found == std::end(cpu_features) ? nullptr : found;
}

bool is_known_feature(std::string_view name) {
    return find_cpu_feature(name) || contains(features, name) || vector_bits(name);
}

// Vectors of what is not in cpu_features: the first row whose beginning and feature a target has.
struct VectorUnit {
    std::string_view beginning, feature;
    int bytes, registers;
};
constexpr VectorUnit vector_units[] = {
    {"x86", "avx10_1", 64, 32}, {"x86", "avx512_knl", 64, 32},    {"x86", "", 16, 16}, {"arm-64", "no_neon", 4, 32},
    {"arm-64", "", 16, 32},     {"arm", "no_neon", 4, 16},        {"arm", "", 16, 16}, {"riscv", "", 4, 32},
    {"powerpc", "", 16, 32},    {"wasm", "wasm_simd128", 16, 16}, {"", "", 4, 16},
};

std::vector<std::string> features_of(std::string_view halide) {
    std::vector<std::string> parts = parts_of(halide);
    parts.erase(parts.begin(), parts.begin() + std::min<size_t>(3, parts.size()));
    return parts;
}

}  // namespace

const std::vector<TargetAlias> &target_aliases() {
    static const std::vector<TargetAlias> aliases = {
        {"baseline", "x86-64-linux", "any x86-64 CPU (SSE2)"},
        {"sse41", "x86-64-linux-sse41", "x86-64 with SSE4.1, 2008 and later"},
        {"avx2", "x86-64-linux-avx-avx2-f16c-fma-sse41", "x86-64-v3: AVX2 and FMA, 2013 and later"},
        {"avxvnni", "x86-64-linux-avx-avx2-avxvnni-f16c-fma-sse41", "AVX2 with VNNI: Intel's laptops, 2021 and later"},
        {"avx512", avx512_halide, "x86-64-v4: AVX-512 as in Skylake servers and Zen 4"},
        {"avx512vnni", avx512vnni_halide, "AVX-512 with VNNI: Ice Lake, Zen 4 and later"},
        {"amx", amx_halide, "AVX-512 with AMX: Sapphire Rapids and later"},
        {"rv32im", rv32im_halide, "RISC-V soft core, integers only; kernels are C"},
    };
    return aliases;
}

Result<Target> parse_target(std::string_view text, int threads, std::string_view host_halide) {
    if (threads < 1 || threads > 1024) {
        return Error{ErrorCode::usage, "--threads " + std::to_string(threads) + ": needs 1 to 1024"};
    }
    if (text == "host") text = host_halide;
    for (const TargetAlias &alias : target_aliases()) {
        if (alias.name == text) text = alias.halide;
    }
    const std::string where = "target `" + excerpt(text) + "`: ";
    std::vector<std::string> parts = parts_of(text);
    if (parts.size() < 3 || !contains(architectures, parts[0])) {
        std::string known = "host";
        for (const TargetAlias &alias : target_aliases()) known += ", " + std::string(alias.name);
        return Error{ErrorCode::usage, where + "neither an alias (" + known +
                                           ") nor a Halide target string such as x86-64-linux-avx2-fma"};
    }
    if (parts[1] != "32" && parts[1] != "64") return Error{ErrorCode::usage, where + "bits must be 32 or 64"};
    if (!contains(systems, parts[2]))
        return Error{ErrorCode::usage, where + "unknown system `" + excerpt(parts[2]) + "`"};
    std::sort(parts.begin() + 3, parts.end());
    parts.erase(std::unique(parts.begin() + 3, parts.end()), parts.end());
    Target target{parts[0] + "-" + parts[1] + "-" + parts[2], threads};
    for (size_t i = 3; i < parts.size(); i++) {
        if (!is_known_feature(parts[i])) {
            return Error{ErrorCode::usage,
                         where + "unknown feature `" + excerpt(parts[i]) + "`; `kiln targets` lists targets"};
        }
        target.halide += "-" + parts[i];
    }
    if (is_soft_core(target) && threads > 1) {
        return Error{ErrorCode::usage, where + "a soft core runs one thread; got " + std::to_string(threads)};
    }
    return target;
}

bool is_soft_core(const Target &target) { return target.halide == rv32im_halide; }

bool has_feature(const Target &target, std::string_view feature) {
    const auto list = features_of(target.halide);
    return std::find(list.begin(), list.end(), feature) != list.end();
}

bool has_dot_products(const Target &target) {
    constexpr std::string_view with_vnni[] = {"avx512_icelake", "avx512_zen4", "avx512_zen5", "avx512_sapphirerapids"};
    return std::ranges::any_of(with_vnni, [&](std::string_view feature) { return has_feature(target, feature); });
}

std::string architecture(const Target &target) { return parts_of(target.halide)[0]; }

std::vector<std::string> missing_features(const Target &target, std::string_view host_halide) {
    if (is_soft_core(target)) return {};
    const auto wanted = parts_of(target.halide), here = parts_of(host_halide);
    const auto is_here = [&](const std::string &name) {
        const CpuFeature *feature = find_cpu_feature(name);
        return std::any_of(here.begin() + 3, here.end(), [&](const std::string &other) {
            const CpuFeature *of_host = find_cpu_feature(other);
            return other == name || (feature && of_host && (of_host->includes & feature->bit));
        });
    };
    std::vector<std::string> missing;
    for (size_t i = 0; i < wanted.size(); i++) {
        if (i < 3 ? wanted[i] != here[i] : !is_here(wanted[i])) missing.push_back(wanted[i]);
    }
    return missing;
}

namespace {

VectorUnit vector_unit(const Target &target) {
    const auto has = [&](const VectorUnit &unit) {
        return target.halide.starts_with(unit.beginning) && (unit.feature.empty() || has_feature(target, unit.feature));
    };
    VectorUnit unit = *std::ranges::find_if(vector_units, has);
    for (const std::string &name : features_of(target.halide)) {
        const CpuFeature *feature = find_cpu_feature(name);
        if (feature && feature->vector_bytes > unit.bytes) {
            unit.bytes = feature->vector_bytes, unit.registers = feature->vector_registers;
        }
        if (const auto bits = vector_bits(name)) return {.bytes = std::max(4, *bits / 8), .registers = unit.registers};
    }
    return unit;
}

}  // namespace

int vector_bytes(const Target &target) { return vector_unit(target).bytes; }
int vector_lanes(const Target &target) { return vector_bytes(target) / 4; }
int vector_registers(const Target &target) { return vector_unit(target).registers; }

std::string to_text(const Target &target) { return target.halide + "/threads:" + std::to_string(target.threads); }

}  // namespace kiln
