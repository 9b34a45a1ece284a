// Rounded sums of multiples of one or two stored numbers in integers alone, for processors without floating point:
//
//   h_i    = (((x_i - lowest_i) * 2^23) * multiplier_i) >> 32, of numbers without signs: a multiple with `fraction` bits behind the point
//   result = lo + (min(max(h_0 +- h_1 + start, 0), (hi - lo + 1) * 2^fraction - 1) >> fraction)
//
// Additions of quantized tensors are such functions, and the requantization of what is concatenated. It is used where it gives the same
// result for all 256 or 65536 operands, which is tried: the multipliers are those of exact arithmetic or beside them, and what the
// start may be follows from every result.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "graph/graph.h"
#include "graph/passes/functions/multiples.h"
#include "graph/passes/functions/stored_function.h"

namespace kiln::graph {

struct IntegerMultiples {
    int fraction = 0;
    std::array<int64_t, 2> lowest{};
    std::array<uint32_t, 2> multipliers{};
    std::array<bool, 2> is_negative{};  // what the number is multiplied by
    int64_t start = 0, lo = 0, hi = 0;
};

// `lowest`: of the types of the function's inputs. Nothing where no numbers were found.
std::optional<IntegerMultiples> integer_multiples(const StoredFunction &function, const Multiples &exact,
                                                  const std::array<int64_t, 2> &lowest);

// All nodes that have this form in it. Behind the passes, of which it is none: where there is floating point, it is quicker.
Graph with_integer_multiples(const Graph &graph);

}  // namespace kiln::graph
