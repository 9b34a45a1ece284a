// Functions of one or two stored numbers as a rounded sum of multiples in f32.
#pragma once

#include <array>
#include <optional>

#include "graph/passes/quantization/stored_function.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {

// round(x0 * factors[0] + x1 * factors[1] + shift) + behind, each step rounded to f32, from `lo` to `hi`.
struct RoundedMultiples {
    std::array<float, 2> factors{};  // of the function's inputs
    float shift = 0;
    float behind = 0;  // a whole number: halves go to the other side where it is odd
    float lo = 0, hi = 0;
};

// Those that give the same result as the function for all 256 or 65536 operands, which is tried. The multiples are those of `term`, which
// computes the function, in exact arithmetic, or numbers of f32 beside them: a result near a half may want another last place. Nothing
// where none is found.
std::optional<RoundedMultiples> rounded_multiples(const Rewriting &graph, const StoredFunction &function,
                                                  const Term &term);

}  // namespace kiln::graph
