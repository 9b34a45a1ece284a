// The normal form of an expression: constants are computed, what changes nothing is gone, and one spelling stands for many.
//
// A result may differ from that of the expression before as follows, and in no other way:
//   rounding   constants that follow each other become one, x * x * x becomes a power. Constants that cancel stay (x + 1e8 - 1e8
//              rounds x). Each change is worth a few units in the last place. Quotients stay, but for those by powers of two, so
//              that floor(x / 41) is right for multiples of 41.
//   zeros      the sign of a zero may change: x + 0 is x.
//   overflow   what overflowed in between, and only there, may be finite: x * 1e30 * 1e-30. The power 0.5 of -infinity is NaN.
// What becomes an i8, u8, i16 or u16 keeps the rounding of every step, since a change of the last place might decide which.
// NaN stays NaN wherever it came from: minimum and maximum keep it, x * 0 and x - x are left as they are. One that would become a quantum
// on the way to another one may stay NaN.
#pragma once

#include "graph/rewriting/expression_tree.h"

namespace kiln::graph {

// `stays`: the term becomes part of something that is such a number, so its own steps keep their rounding, too.
enum class Rounding { may_change, stays };
Term simplify(Term term, Rounding rounding = Rounding::may_change);

}  // namespace kiln::graph
