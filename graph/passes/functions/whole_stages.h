// Stages of an expression: numbers that are rounded and clamped, as what quantizes and dequantizes again leaves them. Where a stage follows
// from one or two others, or from stored numbers, all of its results are known.
#pragma once

#include <optional>

#include "graph/rewriting/value_terms.h"

namespace kiln::graph {

// The term with one stage less, where the first that it is made of is the same number, as behind a product with a constant that the next
// scale has, too; or with a stage that multiplies instead of dividing, with the same results for all operands. Constants may
// have an element for each channel. Nothing where there is no such stage.
std::optional<Term> without_a_stage(Rewriting &graph, const Term &term);

}  // namespace kiln::graph
