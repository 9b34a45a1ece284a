// Pools as nests. What lies in the padding is left out of a maximum and of a mean; where padding counts, the sum is divided by
// the number of taps in the padded image, which is a constant for each row and column.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "network/node_nests.h"

namespace kiln::network {
namespace {

using graph::Pool;
using graph::Stored;
using scalar::Function;

// How many taps of each window lie in the input and its padding, along one spatial axis.
std::vector<float> counted_taps(const Pool &op, size_t d, int64_t input, int64_t windows) {
    std::vector<float> counts;
    for (int64_t i = 0; i < windows; i++) {
        const int64_t start = i * op.strides[d] - op.padding[d].lo, end = input + op.padding[d].hi;
        const int64_t taps = start >= end ? 0 : (end - start + op.dilations[d] - 1) / op.dilations[d];
        counts.push_back(static_cast<float>(std::min(op.window[d], taps)));
    }
    return counts;
}

// What a sum is divided by: one number where all windows are whole, else a product of vectors.
scalar::Expression divisor(const Pool &op, const StoredNode &node, NestBuilder *nest) {
    double whole = 1;
    std::optional<scalar::Expression> product;
    for (size_t d = 0; d < op.window.size(); d++) {
        const int axis = static_cast<int>(d) + 2;
        const int64_t windows = node.result.form->shape[axis];
        const std::vector<float> counts = counted_taps(op, d, node.inputs[0].form->shape[axis], windows);
        if (std::ranges::all_of(counts, [&](float count) { return count == counts[0]; })) {
            whole *= counts[0];
            continue;
        }
        const scalar::Expression factor = scalar::operand(nest->read_numbers(counts, {windows}, {nest->along(axis)}));
        product = product ? scalar::apply(Function::multiply, *product, factor) : factor;
    }
    if (!product) return scalar::constant(whole);
    return whole == 1 ? *product : scalar::apply(Function::multiply, *product, scalar::constant(whole));
}

}  // namespace

Result<NodeNest> nest_of(const Pool &op, const StoredNode &node) {
    const Stored &x = node.inputs[0];
    NestBuilder nest(node.result, blocked_axes(node.inputs, node.result.form->shape.size()));
    std::vector<NestIndex> indices{nest.along(0), nest.along(1)};
    for (size_t d = 0; d < op.window.size(); d++) {
        const NestIndex start = nest.along(static_cast<int>(d) + 2, op.strides[d], -op.padding[d].lo);
        indices.push_back(sum(start, nest.reduce(op.window[d]), op.dilations[d]));
    }
    const int read = nest.read(0, x, indices);
    if (op.kind == Pool::Kind::maximum) return std::move(nest).finish(Reduction::maximum, scalar::operand(read));
    if (!op.counts_padding) return std::move(nest).finish(Reduction::mean, scalar::operand(read));
    const scalar::Expression count = divisor(op, node, &nest);
    const scalar::Expression reduced = scalar::operand(nest.read_count());
    return std::move(nest).finish(Reduction::sum, scalar::operand(read),
                                  scalar::apply(Function::divide, reduced, count));
}

}  // namespace kiln::network
