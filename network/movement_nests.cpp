// Transposes, slices, pads, gathers, also by computed indices, and resizes as nests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "network/node_nests.h"

namespace kiln::network {
namespace {

using graph::Resample;
using graph::Stored;
using scalar::Function;

// index = factor * i + offset.
struct Line {
    int64_t factor = 1, offset = 0;
};

// The line through the indices of an axis with one tap, where what is outside of the input is outside on the line, too.
std::optional<Line> line_through(const Resample::Axis &axis, int64_t extent) {
    const std::vector<int64_t> &indices = axis.indices;
    std::vector<size_t> inside;
    for (size_t i = 0; i < indices.size() && inside.size() < 2; i++) {
        if (indices[i] != Resample::outside) inside.push_back(i);
    }
    if (axis.taps != 1 || inside.empty()) return {};
    std::vector<int64_t> factors{1, -1, extent};  // any line through a single point may do
    if (inside.size() == 2) {
        const int64_t rise = indices[inside[1]] - indices[inside[0]], run = int64_t(inside[1] - inside[0]);
        if (rise % run != 0) return {};
        factors = {rise / run};
    }
    for (int64_t factor : factors) {
        const Line line{factor, indices[inside[0]] - factor * int64_t(inside[0])};
        const auto fits = [&](size_t i) {
            const int64_t index = line.factor * int64_t(i) + line.offset;
            return indices[i] == Resample::outside ? index < 0 || index >= extent : index == indices[i];
        };
        bool all_fit = true;
        for (size_t i = 0; i < indices.size() && all_fit; i++) all_fit = fits(i);
        if (all_fit) return line;
    }
    return {};
}

// An integer of 64 bits, as it lies in memory.
std::vector<int32_t> halves_of(int64_t whole) {
    return {static_cast<int32_t>(whole), static_cast<int32_t>(whole >> 32)};
}

class ResampleNest {
public:
    // `has_halves`: the elements are halves of integers of 64 bits, side by side along the last axis.
    ResampleNest(const Resample &op, const StoredNode &node, bool has_halves)
        : op_(op),
          node_(node),
          has_halves_(has_halves),
          nest_(node.result, blocked_axes(node.inputs, node.result.form->shape.size())) {}

    Result<NodeNest> run() && {
        std::vector<NestIndex> indices;
        for (size_t axis = 0; axis < node_.result.form->shape.size(); axis++) {
            indices.push_back(nest_.along(static_cast<int>(axis)));
        }
        for (const Resample::Axis &axis : op_.axes) indices[axis.axis] = index_of(axis);
        scalar::Expression term = scalar::operand(nest_.read(0, node_.inputs[0], indices));
        for (const scalar::Expression &weight : weights_) term = scalar::apply(Function::multiply, term, weight);
        const Reduction reduction = nest_.has_reduction() ? Reduction::sum : Reduction::none;
        if (!mask_) return std::move(nest_).finish(reduction, std::move(term));
        const scalar::Expression is_inside = scalar::apply(Function::less, scalar::constant(0), *mask_);
        const scalar::Expression fill = fill_of_element();
        const auto filled = [&](scalar::Expression value) {
            return scalar::apply(Function::select, is_inside, std::move(value), fill);
        };
        if (reduction == Reduction::none) return std::move(nest_).finish(reduction, filled(std::move(term)));
        const scalar::Expression reduced = scalar::operand(nest_.read_count());
        return std::move(nest_).finish(reduction, std::move(term), filled(reduced));
    }

private:
    scalar::Expression fill_of_element() {
        if (!has_halves_) return scalar::constant(op_.fill, node_.result.form->type);
        const int last = static_cast<int>(node_.result.form->shape.size()) - 1;
        return scalar::operand(
            nest_.read_integers(halves_of(static_cast<int64_t>(op_.fill)), {2}, {nest_.along(last)}));
    }

    bool fills(const Resample::Axis &axis) const { return !op_.fills_with(0) && axis.reads_outside(); }

    NestIndex index_of(const Resample::Axis &axis) {
        const int64_t extent = node_.inputs[0].form->shape[axis.axis];
        if (axis.weights.empty() && !fills(axis)) {
            if (const std::optional<Line> line = line_through(axis, extent)) {
                return nest_.along(axis.axis, line->factor, line->offset);
            }
        }
        const int64_t count = node_.result.form->shape[axis.axis], taps = axis.taps;
        std::vector<NestIndex> place{nest_.along(axis.axis)};
        std::vector<int64_t> shape{count};
        if (taps > 1) {
            place.push_back(nest_.reduce(taps));
            shape.push_back(taps);
        }
        if (!axis.weights.empty()) {
            weights_.push_back(
                scalar::operand(nest_.read_numbers({axis.weights.begin(), axis.weights.end()}, shape, place)));
        }
        if (fills(axis)) add_mask(axis);
        std::vector<int32_t> table;
        for (int64_t index : axis.indices) {
            const bool reads_anything = index == Resample::outside && fills(axis);
            table.push_back(static_cast<int32_t>(reads_anything ? 0 : index));
        }
        return nest_.from_table(table, shape, place);
    }

    // 1 where the element comes from the input, 0 where it is the fill.
    void add_mask(const Resample::Axis &axis) {
        const int64_t count = node_.result.form->shape[axis.axis];
        std::vector<float> inside;
        for (int64_t i = 0; i < count; i++) {
            const auto taps = axis.indices.begin() + i * axis.taps;
            inside.push_back(std::count(taps, taps + axis.taps, Resample::outside) == 0);
        }
        const scalar::Expression mask = scalar::operand(nest_.read_numbers(inside, {count}, {nest_.along(axis.axis)}));
        mask_ = mask_ ? scalar::apply(Function::multiply, *mask_, mask) : mask;
    }

    const Resample &op_;
    const StoredNode &node_;
    const bool has_halves_;
    NestBuilder nest_;
    std::vector<scalar::Expression> weights_;
    std::optional<scalar::Expression> mask_;
};

// A node that moves integers of 64 bits as one that moves their halves. It stays where it is made: `node` points into it.
struct HalvedNode {
    explicit HalvedNode(const StoredNode &whole) : input(whole.inputs[0]), result(whole.result), node(whole) {
        node.inputs[0] = input.stored();
        node.result = result.stored();
    }
    HalvedNode(const HalvedNode &) = delete;
    HalvedNode &operator=(const HalvedNode &) = delete;

    static bool has_halves(const StoredNode &whole) { return whole.result.form->type == graph::Element::i64; }

    Halves input, result;
    StoredNode node;
};

}  // namespace

Result<NodeNest> nest_of(const graph::Transpose &op, const StoredNode &node) {
    if (HalvedNode::has_halves(node)) {
        graph::Transpose of_halves = op;
        of_halves.permutation.push_back(static_cast<int>(op.permutation.size()));
        return nest_of(of_halves, HalvedNode(node).node);
    }
    std::vector<BlockedAxis> blocked = blocked_axes(node.inputs, op.permutation.size());
    for (BlockedAxis &axis : blocked) {
        axis.axis = static_cast<int>(std::ranges::find(op.permutation, axis.axis) - op.permutation.begin());
    }
    NestBuilder nest(node.result, blocked);
    std::vector<NestIndex> indices(op.permutation.size());
    for (size_t axis = 0; axis < op.permutation.size(); axis++) {
        indices[op.permutation[axis]] = nest.along(static_cast<int>(axis));
    }
    const int read = nest.read(0, node.inputs[0], indices);
    return std::move(nest).finish(Reduction::none, scalar::operand(read));
}

Result<NodeNest> nest_of(const Resample &op, const StoredNode &node) {
    if (!HalvedNode::has_halves(node)) return ResampleNest(op, node, false).run();
    return ResampleNest(op, HalvedNode(node).node, true).run();
}

Result<NodeNest> nest_of(const graph::Gather &op, const StoredNode &node) {
    if (HalvedNode::has_halves(node)) return nest_of(op, HalvedNode(node).node);
    NestBuilder nest(node.result, {});
    const graph::Shape &from = node.inputs[0].form->shape, &places = node.inputs[1].form->shape;
    const int rank_of_places = static_cast<int>(places.size());
    std::vector<NestIndex> place, indices;
    for (int axis = 0; axis < rank_of_places; axis++) place.push_back(nest.along(op.axis + axis));
    for (int axis = 0; axis < static_cast<int>(from.size()); axis++) {
        if (axis == op.axis) {
            indices.push_back(nest.from_table(1, node.inputs[1], place));
        } else {
            indices.push_back(nest.along(axis < op.axis ? axis : axis + rank_of_places - 1));
        }
    }
    const int read = nest.read(0, node.inputs[0], indices);
    return std::move(nest).finish(Reduction::none, scalar::operand(read));
}

}  // namespace kiln::network
