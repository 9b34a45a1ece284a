// Resampling without weights: which element of the input each place along an axis takes.
#pragma once

#include <vector>

#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

// How many places an axis, or a node, may have: each is stored.
inline constexpr int64_t most_places = int64_t{1} << 24;

// How many comparisons of elements with each other one node may take.
inline constexpr int64_t most_comparisons = int64_t{1} << 27;

// The elements of a shape; refuses one that no value may have.
int64_t checked_count(const Shape &shape);

// Refuses more places than may be listed for one node.
void check_places(int64_t count);

// Refuses a result that has more elements than a value may: lists for its axes would be without end, too.
void check_size(const Shape &result);

// `count` indices from `first` on, `step` apart. Refuses more than most_places of them.
std::vector<int64_t> index_range(int64_t first, int64_t count, int64_t step = 1);

// 0, 1, ... along an axis of `extent` elements, to be broadcast against values of that rank.
ValueId counted_along(NodeLowering &node, int64_t extent, int axis, int rank, Element type = Element::i32);

// The integers of an input, which are known now, as indices: one that nobody could list is refused before it is read.
std::vector<int64_t> known_indices(const NodeLowering &node, int input);

// An index of type `type` along an axis of `extent` elements, which ONNX counts from the end where it is negative: from the beginning.
Expression counted_from_first(const Expression &index, Element type, int64_t extent);

// The input along these axes; those that take every element in its place are left out.
struct IndexedAxis {
    int axis;
    std::vector<int64_t> indices;
};
ValueId take(NodeLowering &node, ValueId x, std::vector<IndexedAxis> axes, double fill = 0);

}  // namespace kiln::graph
