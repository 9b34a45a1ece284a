// Terms of the form of a pattern, whatever their numbers.
#pragma once

#include <optional>

#include "graph/rewriting/expression_tree.h"

namespace kiln::graph {

// Whether numbers stand for the same: models hold sqrt(2 / pi) and 1 / 6 in any number of digits.
bool are_alike(double a, double b);

struct Match {
    std::optional<Term> x0;                 // the part in its place, the same wherever it stands
    std::optional<double> numbers[2] = {};  // in the places of x1 and x2
};

// What stands in `term` in the places of the pattern's operands; x1 and x2 are places of numbers.
std::optional<Match> match(const Term &pattern, const Term &term);

}  // namespace kiln::graph
