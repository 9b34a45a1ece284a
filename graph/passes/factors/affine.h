// Expressions that multiply and add numbers for each channel: y = scale[c] * x + shift[c].
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// In double, so that they are rounded once, when weights are made of them.
struct Affine {
    std::vector<double> scale, shift;  // of each channel
    bool divides = false;              // then a product with `scale` is not always the quotient
};

// What an element-wise node does with input `index`, where it only multiplies and adds constants that are the same for all
// elements of a channel. Channels are axis `axis` of the result, which has the shape of the input. Nothing for integers: their sums and
// products wrap around, those of doubles do not.
std::optional<Affine> affine(const Rewriting &graph, const Node &node, int index, int axis);

// `outer` of what `inner` makes, as one, each number rounded to a type. Nothing where one of them would overflow, or a factor lose
// digits because it becomes smaller than the smallest normal number.
std::optional<Affine> composed(const Affine &outer, const Affine &inner, Element type);

}  // namespace kiln::graph
