// Quantized values in a graph: which nodes dequantize and quantize, and by which numbers.
#pragma once

#include <optional>
#include <vector>

#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// The numbers are values, too. They have one element, or fit the value that they are of by broadcasting.
struct Quantization {
    ValueId scale = 0;
    std::optional<ValueId> zero_point;
};

struct Dequantized {
    ValueId stored = 0;
    Quantization by;
};
std::optional<Dequantized> dequantized(const Rewriting &graph, ValueId id);

struct Quantized {
    ValueId number = 0;
    Quantization by;
    Element type = Element::i8;
};
std::optional<Quantized> quantized(const Node &node);

// One positive scale and one zero point for all elements, which are constants.
struct UniformQuantization {
    double scale = 1;
    int64_t zero_point = 0;
    bool operator==(const UniformQuantization &) const = default;
};
std::optional<UniformQuantization> uniform(const Rewriting &graph, const Quantization &by);

// What a number of f32 is stored as. Models divide in f32, so the quotient is rounded to it first. Nothing for NaN.
std::optional<double> nearest_stored(double number, const UniformQuantization &by, Element type);

// The same numbers, for all elements or for each.
bool are_equal(const Rewriting &graph, const Quantization &a, const Quantization &b);

// Whether all that quanta of a type stand for is known to be finite in f32.
bool stays_finite(const Rewriting &graph, const Quantization &by, Element type);

// The elements of a constant as one for each index of an axis of a value of `rank` axes: nothing where it has others, or is no
// constant.
std::optional<std::vector<double>> along_axis(const Rewriting &graph, ValueId id, int axis, const Shape &shape);

// Constants.
ValueId floats(Rewriting &graph, const Shape &shape, std::vector<double> elements);
ValueId integers(Rewriting &graph, std::vector<int64_t> elements);  // i32, one axis

// Whether anything in a graph is dequantized or quantized.
bool has_quantization(const Graph &graph);

}  // namespace kiln::graph
