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
    std::optional<int> operand;             // in the place of x1, where that is one of an operand
};

// What x1 stands for in a pattern; x2 always stands for a number.
enum class Second { number, operand };

// What stands in `term` in the places of the pattern's operands.
std::optional<Match> match(const Term &pattern, const Term &term, Second x1 = Second::number);

}  // namespace kiln::graph
