#include "tuner/build/foreign_instructions.h"

#include <algorithm>

namespace kiln {
namespace {

// Those of Zen 4 that LLVM uses by itself: SSE4A, and BF16, also with the width behind the name (vcvtneps2bf16x).
constexpr std::string_view beginnings[] = {"extrq",        "insertq",       "movntsd",  "movntss",
                                           "vcvtneps2bf16", "vcvtne2ps2bf16", "vdpbf16ps"};

// Of a line such as `  1f:\tvpaddd %zmm1,%zmm2,%zmm3`. Empty: the line is a heading.
std::string_view mnemonic_of(std::string_view line) {
    const size_t tab = line.find(":\t");
    if (tab == line.npos) return {};
    line.remove_prefix(tab + 2);
    return line.substr(0, line.find_first_of(" \t"));
}

bool is_foreign(std::string_view mnemonic) {
    return std::ranges::any_of(beginnings, [&](std::string_view name) { return mnemonic.starts_with(name); });
}

}  // namespace

bool needs_check_of_instructions(const Target &target) { return has_feature(target, "avx512_icelake"); }

std::optional<std::string> foreign_instruction(std::string_view disassembly) {
    while (!disassembly.empty()) {
        const size_t end = std::min(disassembly.find('\n'), disassembly.size());
        const std::string_view mnemonic = mnemonic_of(disassembly.substr(0, end));
        if (is_foreign(mnemonic)) return std::string(mnemonic);
        disassembly.remove_prefix(std::min(end + 1, disassembly.size()));
    }
    return std::nullopt;
}

}  // namespace kiln
