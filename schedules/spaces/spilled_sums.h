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

}  // namespace kiln
