// A shuffle of channels (a reshape into groups, a transpose, a reshape back) needs no movement where the convolution before it
// or all readers behind it can have their weights in another order. Behind a depthwise convolution it moves as many elements
// fewer as that has strides.
//
// With y[j] = x[order[j]] over channels.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <utility>

#include "network/alter/alteration.h"
#include "network/alter/plain_input.h"

namespace kiln::network {
namespace {

using namespace graph;
using Channels = std::vector<int64_t>;

int64_t pixels(const Shape &shape) {
    int64_t count = 1;
    for (size_t axis = 2; axis < shape.size(); axis++) count *= shape[axis];
    return count;
}

struct Shuffle {
    ValueId x = 0;
    Channels order;
    std::vector<Operator> steps;  // reshape, transpose, reshape
    bool is_shuffle() const { return !order.empty(); }
};

// Which channel of the input each channel of the result is, if the three only change their order.
Channels order_of_channels(const Shape &shape, const Shape &apart, const std::vector<int> &permutation) {
    const size_t rank = shape.size() - 2;
    if (apart.size() < rank + 2 || std::ranges::count(shape, 0) > 0) return {};
    for (size_t i = 0; i < rank; i++) {
        const size_t axis = apart.size() - rank + i;
        if (apart[axis] != shape[i + 2] || permutation[axis] != int(axis)) return {};
    }
    if (shape[0] > 1 && (apart[0] != shape[0] || permutation[0] != 0)) return {};
    const Shape strides = row_major_strides(apart);
    Channels order;
    for (int64_t channel = 0; channel < shape[1]; channel++) {
        int64_t rest = channel * pixels(shape), from = 0;
        for (size_t axis = permutation.size(); axis-- > 0;) {
            const int64_t extent = apart[size_t(permutation[axis])];
            from += rest % extent * strides[size_t(permutation[axis])];
            rest /= extent;
        }
        order.push_back(from / pixels(shape));
    }
    return order;
}

Shuffle shuffle_at(const GraphIndex &graph, const Node &node) {
    const auto *back = std::get_if<Reshape>(&node.op);
    const auto *transpose = back ? graph.computed_by<Transpose>(node.inputs[0]) : nullptr;
    if (!transpose || !graph.is_read_by_one(node.inputs[0])) return {};
    const ValueId apart = graph.producer(node.inputs[0])->inputs[0];
    const auto *reshape = graph.computed_by<Reshape>(apart);
    if (!reshape || !graph.is_read_by_one(apart)) return {};
    const ValueId x = graph.producer(apart)->inputs[0];
    const Shape &shape = graph.shape(x);
    if (shape.size() < 3 || back->shape != shape) return {};
    return {x, order_of_channels(shape, reshape->shape, transpose->permutation), {*reshape, *transpose, *back}};
}

// A constant whose axis `axis` has its parts in another order.
ValueId reordered(const Value &value, size_t axis, const Channels &order, Patch *patch) {
    const std::span<const std::byte> bytes = value.constant->bytes();
    int64_t outer = 1;
    for (size_t i = 0; i < axis; i++) outer *= value.form.shape[i];
    const size_t part = bytes.size() / size_t(outer * std::ssize(order));
    std::vector<std::byte> result(bytes.size());
    for (size_t o = 0, to = 0; o < size_t(outer); o++) {
        for (const int64_t from : order) {
            const size_t place = (o * order.size() + size_t(from)) * part;
            if (part > 0) std::memcpy(result.data() + part * to++, bytes.data() + place, part);
        }
    }
    return patch->constant(value.form, ConstantData(std::move(result)));
}

Channels inverse(const Channels &order) {
    Channels result(order.size());
    for (size_t i = 0; i < order.size(); i++) result[size_t(order[i])] = int64_t(i);
    return result;
}

// The inputs of a convolution behind its first with the output channels in another order; nothing where one is no such
// constant.
std::optional<std::vector<ValueId>> with_outputs(const GraphIndex &graph, const Node &convolution,
                                                 const Channels &order, Patch *patch) {
    std::vector<ValueId> inputs = convolution.inputs;
    for (size_t i = 1; i < inputs.size(); i++) {
        const Value &value = graph.value(inputs[i]);
        if (!value.constant || value.form.shape.empty() || value.form.shape[0] != std::ssize(order)) return {};
        if (i > 1 && value.form.shape.size() != 1) return {};
        inputs[i] = reordered(value, 0, order, patch);
    }
    return inputs;
}

std::optional<Patch> in_convolution_before(const GraphIndex &graph, const Node &node, const Shuffle &shuffle) {
    const auto *op = graph.computed_by<Convolution>(shuffle.x);
    if (!op || op->groups != 1 || !has_plain_input(*op) || !graph.is_read_by_one(shuffle.x)) return {};
    Patch patch(graph.graph());
    const auto inputs = with_outputs(graph, *graph.producer(shuffle.x), shuffle.order, &patch);
    if (!inputs) return {};
    patch.replace(node.output, patch.node(*op, *inputs));
    return patch;
}

// Parts and convolutions of all groups at once take the channels as they are.
std::optional<Patch> in_readers(const GraphIndex &graph, const Node &node, const Shuffle &shuffle) {
    Patch patch(graph.graph());
    if (graph.is_output(node.output) || graph.readers(node.output).empty()) return {};
    for (const Node *reader : graph.readers(node.output)) {
        std::vector<ValueId> inputs = reader->inputs;
        if (std::ranges::count(inputs, node.output) != 1 || inputs[0] != node.output) return {};
        inputs[0] = shuffle.x;
        if (const auto *part = std::get_if<Resample>(&reader->op)) {
            if (part->axes.size() != 1 || part->axes[0].axis != 1) return {};
            Resample composed = *part;
            for (int64_t &index : composed.axes[0].indices) {
                if (index != Resample::outside) index = shuffle.order[size_t(index)];
            }
            patch.replace(reader->output, patch.node(std::move(composed), inputs, {node.output, reader->output}));
            continue;
        }
        const auto *op = std::get_if<Convolution>(&reader->op);
        if (!op || op->groups != 1 || !has_plain_input(*op) || !graph.is_constant(inputs[1])) return {};
        inputs[1] = reordered(graph.value(inputs[1]), 1, inverse(shuffle.order), &patch);
        patch.replace(reader->output, patch.node(*op, inputs, {node.output, reader->output}));
    }
    return patch;
}

std::optional<Patch> behind_depthwise(const GraphIndex &graph, const Node &node, const Shuffle &shuffle) {
    if (!graph.is_read_by_one(node.output)) return {};
    const Node &reader = *graph.readers(node.output)[0];
    const auto *op = std::get_if<Convolution>(&reader.op);
    const auto channels = static_cast<int64_t>(shuffle.order.size());
    if (!op || !has_plain_input(*op) || reader.inputs[0] != node.output || op->groups != channels) return {};
    const Shape &result = graph.shape(reader.output);
    if (result[1] != channels) return {};
    Patch patch(graph.graph());
    auto inputs = with_outputs(graph, reader, inverse(shuffle.order), &patch);
    if (!inputs) return {};
    (*inputs)[0] = shuffle.x;
    ValueId y = patch.node(*op, *inputs, {reader.output});
    for (Operator step : shuffle.steps) {
        if (auto *reshape = std::get_if<Reshape>(&step)) {
            std::copy(result.begin() + 2, result.end(), reshape->shape.end() - (std::ssize(result) - 2));
        }
        y = patch.node(std::move(step), {y}, {node.output});
    }
    patch.replace(reader.output, y);
    return patch;
}

}  // namespace

std::vector<Patch> shuffled_channels(const GraphIndex &graph, const Node &node) {
    const Shuffle shuffle = shuffle_at(graph, node);
    if (!shuffle.is_shuffle()) return {};
    std::vector<Patch> patches;
    for (const auto &way : {in_convolution_before, in_readers, behind_depthwise}) {
        if (std::optional<Patch> patch = way(graph, node, shuffle)) patches.push_back(std::move(*patch));
    }
    return patches;
}

}  // namespace kiln::network
