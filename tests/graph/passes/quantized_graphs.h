// Graphs of quantized values: made of the expressions that models' operators become, and drawn at random.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/graph/passes/sketch.h"

namespace kiln::graph {

// A value of quanta with its numbers.
struct Quanta {
    ValueId stored = 0;
    double scale = 1;
    std::optional<int64_t> zero_point = {};
};

ValueId dequantize(Sketch &s, const Quanta &x);
Quanta quantize(Sketch &s, ValueId number, double scale, std::optional<int64_t> zero_point = {},
                Element to = Element::i8);
// A constant, one scale a slice of its outermost axis where there are several.
ValueId dequantized_constant(Sketch &s, const Shape &shape, std::vector<int64_t> stored, std::vector<double> scales);

// Convolutions, products, pools, additions, concatenations and what moves elements, between quanta of i8 and u8. Scales are
// powers of two and windows of averages, too, so that floats are exact and results equal, halves among them.
Graph quantized_graph(uint64_t seed, int nodes = 12);

}  // namespace kiln::graph
