// Functions of one or two stored numbers as a rounded sum of multiples in f32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/passes/functions/multiples.h"
#include "graph/passes/functions/stored_function.h"
#include "graph/rewriting/value_terms.h"

namespace kiln::graph {

// round(x0 * factors[0] + x1 * factors[1] + shift) + behind, each step rounded to f32, from `lo` to `hi`.
struct RoundedMultiples {
    std::array<float, 2> factors{};  // of the function's inputs
    float shift = 0;
    float behind = 0;  // a whole number: halves go to the other side where it is odd
    float lo = 0, hi = 0;
};

// A function of one or two whole numbers.
struct WholeFunction {
    std::vector<int64_t> smallest;           // of each input
    std::vector<int64_t> results;            // of all numbers from the smallest on, those of the last input in a row
    int64_t values_of_last = stored_values;  // of two inputs
};

// Bounds and `behind` that several functions have in common.
struct SharedBounds {
    float behind = 0, lo = 0, hi = 0;
};

// Those that give the same results as the function, which is tried for all of them. The multiples are `exact` ones, or numbers of f32 beside
// them: a result near a half may want another last place. Nothing where none is found.
std::optional<RoundedMultiples> rounded_multiples(const Multiples &exact, const WholeFunction &function);
std::optional<RoundedMultiples> rounded_multiples(const Multiples &exact, const WholeFunction &function,
                                                  const SharedBounds &shared);

// The same of stored numbers. `term` computes the function.
std::optional<RoundedMultiples> rounded_multiples(const Rewriting &graph, const StoredFunction &function,
                                                  const Term &term);

}  // namespace kiln::graph
