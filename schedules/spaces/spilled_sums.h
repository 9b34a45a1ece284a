// The sums of a register tile that stay in no register, of all templates that multiply inputs with vectors of weights.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kiln {

// Sums of an unrolled step that are stored and loaded again. Where no multiply-add takes its operand to all lanes itself, LLVM
// loads the weights of unrolled steps at once if each is one vector; then more than nine sums have no room in 16 registers. SSE,
// whose products need registers of their own, spills in tiles of more vectors, too, and is still faster with them.
inline int64_t spilled_sums(int64_t registers, int64_t vectors, int64_t pixels) {
    constexpr int64_t most_sums = 9, few_registers = 16;
    return registers > few_registers || vectors > 1 ? 0 : std::max<int64_t>(0, pixels - most_sums);
}

// Steps that are unrolled, of so many `wanted`. LLVM adds up the products of one output from several steps of pairs before it adds them to
// its sum, and those of more than two steps have no room in 16 registers. By races of nine quantized layers on a Zen 2, two steps take
// 0.85 to 0.99 of the time of four, with AVX2 and SSE, direct and Winograd. LLVM does so for all CPUs with these vectors; others are not
// measured. One pixel has few sums.
inline int64_t unrolled_without_spills(int64_t wanted, int64_t registers, int64_t parts, int64_t pixels) {
    return parts == 2 && registers <= 16 && pixels > 1 ? std::min<int64_t>(wanted, 2) : wanted;
}

}  // namespace kiln
