// Nests whose loops and axes are cut as those of a neighbour are, so that one can be put into the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workload/nest/nest.h"

namespace kiln::network {

using Extents = std::vector<int64_t>;

// An extent that both of two shapes of the same elements are made of, and the axis of each that it belongs to.
struct Factor {
    int64_t extent = 1;
    size_t of_operand = 0, of_result = 0;
};

// Outermost first; none of extent 1. Nothing where the axes of one cut those of the other.
std::optional<std::vector<Factor>> common_factors(const Extents &operand, const Extents &result);

// The same nest with the factors of its result as loops. An operand's axis that such a loop walks along is split like it, so
// that what lies outside of the result lies outside of the operand.
Nest with_split_result(const Nest &nest, const std::vector<Factor> &factors);

// The same nest with an operand whose axes are the factors. Nothing where an index does not walk along what is several axes.
std::optional<Nest> with_split_operand(const Nest &nest, int operand, const std::vector<Factor> &factors);

// The loop that an index is, from 0 to its end.
std::optional<size_t> loop_of(const NestIndex &index, const Nest &nest, int64_t extent);

}  // namespace kiln::network
