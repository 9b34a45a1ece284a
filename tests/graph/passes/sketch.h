// Small graphs for tests: made in a few words, told as text, and judged by what they compute before and after a pass.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/graph.h"

namespace kiln::graph {

// Makes a graph; what does not fit is a failure of the test.
class Sketch {
public:
    explicit Sketch(uint64_t seed = 1) : rng_(seed) {}

    ValueId input(const Shape &shape, Element type = Element::f32);
    ValueId constant(const Shape &shape, std::vector<double> numbers);
    ValueId integers(const Shape &shape, std::vector<int64_t> numbers, Element type = Element::i32);
    ValueId random(const Shape &shape, double lo = -1, double hi = 1);  // a constant

    ValueId node(Operator op, std::vector<ValueId> inputs);
    ValueId elementwise(const std::string &expression, std::vector<ValueId> inputs);  // broadcasts its inputs
    ValueId reshape(ValueId x, Shape shape) { return node(Reshape{std::move(shape)}, {x}); }
    ValueId transpose(ValueId x, std::vector<int> permutation) { return node(Transpose{std::move(permutation)}, {x}); }
    ValueId pad(ValueId x, int axis, int64_t before, int64_t behind, double fill = 0);  // negative: crops
    // With random weights `outputs` x channels / groups x window..., with the epilogue's inputs behind x.
    ValueId convolution(std::vector<ValueId> inputs, int64_t outputs, const Shape &window, Convolution op = {});

    const Shape &shape(ValueId id) const { return builder_.value(id).form.shape; }
    const Value &value(ValueId id) const { return builder_.value(id); }
    const Graph &graph() const { return builder_.graph(); }
    Graph finish(const std::vector<ValueId> &outputs) &&;
    double draw(double lo, double hi) { return std::uniform_real_distribution(lo, hi)(rng_); }

private:
    GraphBuilder builder_;
    std::mt19937_64 rng_;
};

// A line a node: "%1 = convolution padding=1,1x1,1 (%0, 8x4x3x3)"; inputs are x0, x1, ..., constants are their shapes.
std::string told(const Graph &graph);

// Inputs of a graph, floats drawn from a range, i8 and u8 from all that they hold.
std::vector<Numbers> drawn_inputs(const Graph &graph, uint64_t seed, double lo = -2, double hi = 2);

struct Closeness {
    double tolerance = 2e-6;  // relative to the largest number of the output, at least 1; 0: bit for bit
    double lo = -2, hi = 2;   // of inputs
};

// Integers are equal whatever the tolerance.
//
// That `pass` leaves a valid graph with the same outputs, and changes nothing when it runs again.
void expect_same_results(const Graph &before, Graph (*pass)(const Graph &), uint64_t seed, Closeness closeness = {});
void expect_equal_outputs(const Graph &before, const Graph &after, uint64_t seed, Closeness closeness = {});

}  // namespace kiln::graph
