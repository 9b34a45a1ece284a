// The functions of one number that networks are built with, of which exporters write each in several spellings.
#pragma once

#include <optional>
#include <string_view>

#include "graph/rewriting/expression_tree.h"

namespace kiln::graph {

struct NamedFunction {
    std::string_view name;        // "hard_swish"
    std::string_view expression;  // of x0: the one form that passes leave
};

// The function that a simplified term computes of one operand, whatever its spelling. Constants agree to 2e-6, since models
// hold sqrt(2 / pi) in any number of digits.
const NamedFunction *named_function(const Term &term);

// The form that passes leave of the function, of an operand of a term.
Term form_of(const NamedFunction &function, const Term &operand);

}  // namespace kiln::graph
