// Element-wise nodes, reductions and products of activations as nests.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "network/node_nests.h"

namespace kiln::network {
namespace {

using graph::Stored;
using graph::TypedShape;
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

// The reads of an element-wise node's inputs, in their order.
std::vector<int> read_all(NestBuilder *nest, const StoredNode &node, size_t axes) {
    std::vector<int> reads;
    for (size_t i = 0; i < node.inputs.size(); i++) {
        const Stored &input = node.inputs[i];
        reads.push_back(nest->read(i, input, broadcast(*nest, input, rank(input), axes)));
    }
    return reads;
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

// The expression behind whose last step, a cast to an integer of 64 bits, are floats; nothing where there is none.
std::optional<scalar::Expression> floats_before_cast(const graph::Elementwise &op, const StoredNode &node) {
    scalar::Expression floats = op.expression;
    if (floats.steps.empty() || floats.steps.back().function != Function::cast) return {};
    floats.steps.pop_back();
    std::vector<graph::Element> types;
    for (const Stored &input : node.inputs) types.push_back(input.form->type);
    const Result<graph::Element> type = scalar::type_of(floats, types);
    return type && *type == graph::Element::f32 ? std::optional(floats) : std::nullopt;
}

// Whether it makes integers of 64 bits of i32 and does nothing else.
bool widens(const graph::Elementwise &op, const StoredNode &node) {
    return node.inputs.size() == 1 && node.inputs[0].form->type == graph::Element::i32 &&
           op.expression == scalar::cast(scalar::operand(0), graph::Element::i64);
}

// What the halves of an integer of 64 bits are, both in i32.
struct HalfTerms {
    scalar::Expression low, high;
};

// Of a float that is cut off: of its size, whose halves are exact in f32; then the complement where it is negative.
HalfTerms halves_of_float(const scalar::Expression &x) {
    using scalar::apply, scalar::cast, scalar::constant;
    constexpr double base = 4294967296.0;
    const scalar::Expression is_negative = apply(Function::less, x, constant(0));
    const scalar::Expression size = apply(Function::floor, apply(Function::absolute, x));
    const scalar::Expression upper = apply(Function::floor, apply(Function::multiply, size, constant(1 / base)));
    const scalar::Expression lower = apply(Function::subtract, size, apply(Function::multiply, upper, constant(base)));
    const scalar::Expression low = cast(cast(lower, graph::Element::u32), graph::Element::i32);
    const scalar::Expression borrow = cast(apply(Function::less, constant(0), lower), graph::Element::f32);
    const scalar::Expression complement = apply(Function::subtract, apply(Function::negate, upper), borrow);
    return {apply(Function::select, is_negative, apply(Function::negate, low), low),
            cast(apply(Function::select, is_negative, complement, upper), graph::Element::i32)};
}

HalfTerms halves_of_i32(const scalar::Expression &x) {
    const auto integer = [](double number) { return scalar::constant(number, graph::Element::i32); };
    const scalar::Expression is_negative = scalar::apply(Function::less, x, integer(0));
    return {x, scalar::apply(Function::select, is_negative, integer(-1), integer(0))};
}

// Of what is computed in 64 bits. Without its lower half, it is a multiple of what the upper one counts.
HalfTerms halves_of_wide(const scalar::Expression &x, graph::Element type) {
    using scalar::apply, scalar::cast, scalar::constant;
    const scalar::Expression lower = cast(x, graph::Element::u32);
    const scalar::Expression rest = apply(Function::subtract, x, cast(lower, type));
    return {cast(lower, graph::Element::i32),
            cast(apply(Function::divide, rest, constant(4294967296.0, type)), graph::Element::i32)};
}

Result<NodeNest> nest_of_halves(const graph::Elementwise &op, const StoredNode &node) {
    const size_t axes = rank(node.result);
    const Halves halves(node.result);
    NestBuilder nest(halves.stored(), blocked_axes(node.inputs, axes));
    const std::vector<int> reads = read_all(&nest, node, axes);
    if (reads.empty()) return unsupported("without an operand");
    const int half = nest.read_numbers({0, 1}, {2}, {nest.along(static_cast<int>(axes))});
    const std::optional<scalar::Expression> floats = floats_before_cast(op, node);
    const HalfTerms terms = floats ? halves_of_float(renumbered(*floats, reads))
                            : widens(op, node)
                                ? halves_of_i32(scalar::operand(reads[0]))
                                : halves_of_wide(renumbered(op.expression, reads), node.result.form->type);
    const scalar::Expression is_low = scalar::apply(Function::equal, scalar::operand(half), scalar::constant(0));
    return std::move(nest).finish(Reduction::none, scalar::apply(Function::select, is_low, terms.low, terms.high));
}

Result<NodeNest> nest_of_lower_halves(const graph::Elementwise &op, const StoredNode &node) {
    if (node.inputs.size() > 1 || op.expression != scalar::cast(scalar::operand(0), graph::Element::i32)) {
        return unsupported("of i64, but networks compute with f32, i32, i8 and u8");
    }
    const Halves halves(node.inputs[0]);
    NestBuilder nest(node.result, {});
    std::vector<NestIndex> indices;
    for (size_t axis = 0; axis < rank(node.result); axis++) indices.push_back(nest.along(static_cast<int>(axis)));
    indices.push_back(constant_index(0));
    const int lower = nest.read(0, halves.stored(), indices);
    return std::move(nest).finish(Reduction::none, scalar::operand(lower));
}

}  // namespace

// A condition lies in memory as a byte of 0 or 1.
Result<NodeNest> nest_of(const graph::Elementwise &op, const StoredNode &node) {
    const graph::Element type = node.result.form->type;
    const auto is_long = [](const Stored &input) { return input.form->type == graph::Element::i64; };
    if (std::ranges::any_of(node.inputs, is_long)) return nest_of_lower_halves(op, node);
    if (type == graph::Element::i64 || type == graph::Element::u64) return nest_of_halves(op, node);
    if (type == graph::Element::boolean) {
        const TypedShape bytes{graph::Element::u8, node.result.form->shape};
        graph::Elementwise as_bytes = op;
        as_bytes.expression = scalar::cast(op.expression, graph::Element::u8);
        return nest_of(as_bytes, {node.inputs, {&bytes, node.result.storage}});
    }
    NestBuilder nest(node.result, blocked_axes(node.inputs, rank(node.result)));
    const std::vector<int> reads = read_all(&nest, node, rank(node.result));
    if (reads.empty()) return unsupported("without an operand");
    return std::move(nest).finish(Reduction::none, renumbered(op.expression, reads));
}

Result<NodeNest> nest_of(const graph::Reduce &op, const StoredNode &node) {
    const Stored &x = node.inputs[0];
    NestBuilder nest(node.result, blocked_axes(node.inputs, rank(x)));
    std::vector<NestIndex> indices(rank(x));
    // In the order of memory, so that the innermost loop goes through neighbours.
    for (const graph::MemoryLoop &loop : graph::memory_loops(x.form->shape, x.storage->order)) {
        const bool is_reduced = std::ranges::count(op.axes, loop.axis) > 0;
        const NestIndex index = is_reduced ? sum({}, nest.reduce(loop.extent), loop.step) : nest.along(loop.axis);
        indices[loop.axis] = is_reduced ? sum(indices[loop.axis], index) : index;
    }
    const int read = nest.read(0, x, indices);
    return std::move(nest).finish(reduction_of(op.kind), scalar::operand(read));
}

Result<NodeNest> nest_of(const graph::MatrixProduct &, const StoredNode &node) {
    const Stored &a = node.inputs[0], &b = node.inputs[1];
    const size_t axes = rank(node.result);
    NestBuilder nest(node.result, blocked_axes(node.inputs, axes));
    const auto block_of = [](const Stored &operand, size_t axis) {
        const auto blocked = blocked_axis(operand);
        return blocked && blocked->axis == static_cast<int>(axis) ? blocked->block : int64_t{1};
    };
    const NestIndex inner =
        nest.reduce(a.form->shape.back(), std::max(block_of(a, rank(a) - 1), block_of(b, rank(b) - 2)));
    std::vector<NestIndex> of_a = broadcast(nest, a, rank(a) - 2, axes - 2),
                           of_b = broadcast(nest, b, rank(b) - 2, axes - 2);
    of_a.insert(of_a.end(), {nest.along(static_cast<int>(axes) - 2), inner});
    of_b.insert(of_b.end(), {inner, nest.along(static_cast<int>(axes) - 1)});
    const int left = nest.read(0, a, of_a), right = nest.read(1, b, of_b);
    return std::move(nest).finish(Reduction::sum,
                                  scalar::apply(Function::multiply, scalar::operand(left), scalar::operand(right)));
}

}  // namespace kiln::network
