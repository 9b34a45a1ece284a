// Extents of the logical axes of a value, outermost first. They are known when a graph is made: a network with dynamic
// inputs is imported for shapes that the user states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln::graph {

using Shape = std::vector<int64_t>;  // empty: a scalar; an extent may be 0

// The most elements that a value may have. With 8 bytes each, no size in bytes overflows.
inline constexpr int64_t most_elements = int64_t{1} << 40;
inline constexpr size_t most_axes = 64;

// The product of the extents. An error where there are too many axes, an extent is negative, or the product of those that are
// not 0 exceeds most_elements: so the product of any of them is within bounds.
Result<int64_t> element_count(const Shape &shape);

// Shapes are aligned at their innermost axes, and extents of 1 are repeated (NumPy's rule, ONNX's "multidirectional
// broadcasting").
Result<Shape> broadcast(const Shape &a, const Shape &b);

// Distances of neighbours along each axis where the last is innermost, in elements. Precondition: element_count() knows the
// shape.
std::vector<int64_t> row_major_strides(const Shape &shape);

std::string to_text(const Shape &shape);  // "1x3x224x224"; "scalar" where there is no axis

}  // namespace kiln::graph
