// Element-wise nodes, reductions and products of activations as nests.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "network/node_nests.h"

namespace kiln::network {
namespace {

using graph::Stored;
using scalar::Function;

size_t rank(const Stored &stored) { return stored.form->shape.size(); }

// Indices of an input that is broadcast against the result from its axis `first` on: aligned at the innermost of `count` axes.
std::vector<NestIndex> broadcast(const NestBuilder &nest, const Stored &input, size_t count, size_t result_axes) {
    std::vector<NestIndex> indices;
    for (size_t axis = 0; axis < count; axis++) {
        const int of_result = static_cast<int>(axis + result_axes - count);
        indices.push_back(input.form->shape[axis] == 1 ? constant_index(0) : nest.along(of_result));
    }
    return indices;
}

// The expression with its operands replaced by the reads of these numbers.
scalar::Expression renumbered(scalar::Expression expression, const std::vector<int> &reads) {
    for (scalar::Step &step : expression.steps) {
        if (step.function == Function::operand) step.operand = reads[step.operand];
    }
    return expression;
}

Reduction reduction_of(graph::Reduce::Kind kind) {
    switch (kind) {
        case graph::Reduce::Kind::sum:
            return Reduction::sum;
        case graph::Reduce::Kind::mean:
            return Reduction::mean;
        case graph::Reduce::Kind::product:
            return Reduction::product;
        case graph::Reduce::Kind::maximum:
            return Reduction::maximum;
        case graph::Reduce::Kind::minimum:
            return Reduction::minimum;
    }
    return Reduction::none;
}

}  // namespace

Result<NodeNest> nest_of(const graph::Elementwise &op, const StoredNode &node) {
    NestBuilder nest(node.result);
    std::vector<int> reads;
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const Stored &input = node.inputs[i];
        reads.push_back(nest.read(i, input, broadcast(nest, input, rank(input), rank(node.result))));
    }
    if (reads.empty()) return unsupported("without an operand");
    return std::move(nest).finish(Reduction::none, renumbered(op.expression, reads));
}

Result<NodeNest> nest_of(const graph::Reduce &op, const StoredNode &node) {
    NestBuilder nest(node.result);
    const Stored &x = node.inputs[0];
    std::vector<NestIndex> indices(rank(x));
    // In the order of memory, so that the innermost loop goes through neighbours.
    for (int axis : x.storage->order) {
        const bool is_reduced = std::ranges::count(op.axes, axis) > 0;
        indices[axis] = is_reduced ? nest.reduce(x.form->shape[axis]) : nest.along(axis);
    }
    const int read = nest.read(0, x, indices);
    return std::move(nest).finish(reduction_of(op.kind), scalar::operand(read));
}

Result<NodeNest> nest_of(const graph::MatrixProduct &, const StoredNode &node) {
    NestBuilder nest(node.result);
    const Stored &a = node.inputs[0], &b = node.inputs[1];
    const size_t axes = rank(node.result);
    const NestIndex inner = nest.reduce(a.form->shape.back());
    std::vector<NestIndex> of_a = broadcast(nest, a, rank(a) - 2, axes - 2),
                           of_b = broadcast(nest, b, rank(b) - 2, axes - 2);
    of_a.insert(of_a.end(), {nest.along(static_cast<int>(axes) - 2), inner});
    of_b.insert(of_b.end(), {inner, nest.along(static_cast<int>(axes) - 1)});
    const int left = nest.read(0, a, of_a), right = nest.read(1, b, of_b);
    return std::move(nest).finish(Reduction::sum,
                                  scalar::apply(Function::multiply, scalar::operand(left), scalar::operand(right)));
}

}  // namespace kiln::network
