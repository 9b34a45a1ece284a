// Functions of one or two stored numbers that are a rounded sum of multiples, but for bounds.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "graph/rewriting/value_terms.h"

namespace kiln::graph {

// shift + sum of factors[i] * inputs[i]
struct Multiples {
    std::array<double, 2> factors{};
    double shift = 0;

    bool is_constant() const { return factors[0] == 0 && factors[1] == 0; }
    Multiples operator*(double by) const { return {{factors[0] * by, factors[1] * by}, shift * by}; }
    Multiples operator+(const Multiples &other) const {
        return {{factors[0] + other.factors[0], factors[1] + other.factors[1]}, shift + other.shift};
    }
};

// The term without its bounds, rounding and conversions, in exact arithmetic: what to try, which need not be right. `inputs`: the
// values that vary, one or two; all others that it reads are constants of one element. Nothing where it computes something else.
std::optional<Multiples> unrounded_multiples(const Rewriting &graph, const std::vector<ValueId> &inputs,
                                             const Term &term);

}  // namespace kiln::graph
