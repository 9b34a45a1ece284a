#include "network/layout_options.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "network/stored_types.h"

namespace kiln::network {
namespace {

using namespace graph;

constexpr size_t most_orders = 6;  // of one value that are considered

class Options {
public:
    Options(const Graph &graph, int64_t block) : graph_(graph), block_(block), orders_(graph.values.size()) {}

    std::vector<std::vector<LayoutOption>> run() {
        std::vector<std::vector<LayoutOption>> all;
        for (const Node &node : graph_.nodes) {
            node_ = &node;
            found_.clear();
            std::visit([&](const auto &op) { visit(op); }, node.op);
            for (const LayoutOption &option : found_) note(node.output, option.output);
            all.push_back(found_);
        }
        return all;
    }

private:
    const TypedShape &form(ValueId id) const { return graph_.values[id].form; }
    const Shape &shape(ValueId id) const { return form(id).shape; }
    const Shape &input_shape(size_t i = 0) const { return shape(node_->inputs[i]); }
    bool is_constant(ValueId id) const { return graph_.values[id].constant.has_value(); }

    void note(ValueId id, const Order &order) {
        const bool is_known =
            std::ranges::any_of(orders_[id], [&](const Order &known) { return lie_alike(known, order, shape(id)); });
        if (!is_known && orders_[id].size() < most_orders) orders_[id].push_back(order);
    }

    // Orders that a value may have: those that its node may write, and the two of all values.
    std::vector<Order> orders_of(ValueId id) {
        note(id, row_major(shape(id).size()));
        note(id, channels_last(shape(id).size()));
        return orders_[id];
    }

    void add(LayoutOption option) {
        option.inputs.resize(node_->inputs.size());
        if (std::ranges::find(found_, option) == found_.end()) found_.push_back(std::move(option));
    }

    void visit(const Convolution &op) {
        const size_t axes = input_shape().size();
        for (const Order &output : image_orders(form(node_->output), block_)) {
            for (const Order &input : image_orders(form(node_->inputs[0]), block_)) {
                // Depthwise sums in front are vectors of channels.
                const bool is_apart = layout_of(input, input_shape()).kind == ActivationLayout::Kind::nchw;
                if (!op.depthwise.empty() && is_apart && input_shape()[1] > 1) continue;
                LayoutOption option{{input, kernel_order(axes)}, output};
                for (size_t i = 2; i < node_->inputs.size(); i++) {
                    option.inputs.push_back(input_shape(i).size() == axes ? std::optional(output) : std::nullopt);
                }
                if (!op.depthwise.empty()) option.inputs.back() = kernel_order(axes);
                add(std::move(option));
            }
        }
    }

    bool is_stored_by_kernels(ValueId id) const { return lies_between_kernels(form(id).type); }

    void visit(const MatrixProduct &) { add({{}, row_major(shape(node_->output).size())}); }

    // The order of the largest input that is no constant, if the axes agree; inputs as large lie alike.
    void visit(const Elementwise &op) {
        // What the caller gives in other types is not moved.
        const auto is_given = [&](ValueId id) { return !is_constant(id) && !is_stored_by_kernels(id); };
        if (std::ranges::any_of(node_->inputs, is_given)) return add({{}, row_major(op.shape.size())});
        std::optional<size_t> largest;
        for (size_t i = 0; i < node_->inputs.size(); i++) {
            if (is_constant(node_->inputs[i]) || input_shape(i).size() != op.shape.size()) continue;
            if (!largest || *element_count(input_shape(i)) > *element_count(input_shape(*largest))) largest = i;
        }
        std::vector<Order> orders;
        if (largest) orders = orders_of(node_->inputs[*largest]);
        std::erase_if(orders, [&](const Order &order) { return !fits(order, op.shape); });
        // What is broadcast lies alike in orders in which the result does not.
        if (!largest || input_shape(*largest) != op.shape) {
            for (Order &order : std::vector<Order>{row_major(op.shape.size()), channels_last(op.shape.size())}) {
                const bool is_there =
                    std::ranges::any_of(orders, [&](const Order &known) { return lie_alike(known, order, op.shape); });
                if (!is_there) orders.push_back(std::move(order));
            }
        }
        // Outputs of other types than those of tensors between kernels are not moved any more.
        if (!is_stored_by_kernels(node_->output)) orders = {row_major(op.shape.size())};
        if (!largest) {
            for (const Order &order : orders) add({{}, order});
            return;
        }
        for (const Order &order : orders) {
            LayoutOption option{{}, order};
            for (size_t i = 0; i < node_->inputs.size(); i++) {
                option.inputs.push_back(input_shape(i) == input_shape(*largest) ? std::optional(order) : std::nullopt);
            }
            add(std::move(option));
        }
    }

    void visit(const Pool &op) {
        const int first_spatial = static_cast<int>(input_shape().size() - op.window.size());
        keep_order([&](int axis) { return axis < first_spatial; });
    }
    void visit(const Normalize &op) {
        keep_order([&](int axis) { return std::ranges::count(op.axes, axis) == 0; });
    }
    void visit(const Resample &op) {
        keep_order([&](int axis) { return std::ranges::count(op.axes, axis, &Resample::Axis::axis) == 0; });
    }
    // Indices and what they choose from are row-major. Numbers of one axis are looked up in any order without blocks.
    void visit(const Gather &) {
        const Order source = row_major(input_shape(0).size());
        if (input_shape(0).size() > 1 || !is_stored_by_kernels(node_->output) ||
            !is_stored_by_kernels(node_->inputs[1]))
            return add({{source, row_major(input_shape(1).size())}, row_major(shape(node_->output).size())});
        for (const Order &order : orders_of(node_->inputs[1])) {
            if (order.block == 0) add({{source, order}, order});
        }
    }
    // An axis of one element has no blocks.
    void visit(const Reduce &op) {
        for (const Order &order : orders_of(node_->inputs[0])) {
            Order kept = order;
            if (order.block > 0 && std::ranges::count(op.axes, order.axes.back()) > 0) {
                kept.axes.pop_back();
                kept.block = 0;
            }
            add({{order}, kept});
        }
    }

    // Orders of the input that fit the result, too. An axis in blocks is one that the node goes through block by block, or a
    // part that it takes out is whole blocks.
    void keep_order(const std::function<bool(int)> &keeps_axis) {
        for (const Order &order : orders_of(node_->inputs[0])) {
            if (!fits(order, shape(node_->output))) continue;
            const bool is_allowed = order.block == 0 || keeps_axis(order.axes.back()) || takes_part(order);
            if (is_allowed) add({{order}, order});
        }
    }

    bool takes_part(const Order &order) const {
        const TypedShape &x = form(node_->inputs[0]), &y = form(node_->output);
        const Storage from = storage_of(x, order), to = storage_of(y, order);
        return offset_of_part(node_->op, {&x, &from}, {&y, &to}).has_value();
    }

    void visit(const Transpose &op) {
        for (const Order &order : orders_of(node_->inputs[0])) add({{order}, permuted(order, op.permutation)});
    }

    bool keeps(const Reshape &op, const Order &before, const Order &after) const {
        const TypedShape &x = form(node_->inputs[0]);
        const TypedShape result{x.type, op.shape};
        const Storage from = storage_of(x, before), to = storage_of(result, after);
        return keeps_bytes(op, {&x, &from}, {&result, &to});
    }

    // The bytes as they are: in an order that the input has, in the one that makes the result channels-last, or row-major.
    void visit(const Reshape &op) {
        const Order last = channels_last(op.shape.size());
        for (const Order &order : orders_of(node_->inputs[0])) {
            if (order.block > 0) continue;
            const Order same = reordered(input_shape(), order, op.shape);
            if (keeps(op, order, same)) add({{order}, same});
        }
        const Order wanted = reordered(op.shape, last, input_shape());
        if (keeps(op, wanted, last)) add({{wanted}, last});
        add({{row_major(input_shape().size())}, row_major(op.shape.size())});
    }

    void visit(const Concat &) {
        std::vector<ValueId> computed = node_->inputs;
        std::erase_if(computed, [&](ValueId id) { return is_constant(id); });
        const auto throughout = [&](const Order &order) {
            add({std::vector<std::optional<Order>>(node_->inputs.size(), order), order});
        };
        for (const ValueId id : computed) {
            for (const Order &order : orders_of(id)) {
                const auto has_fit = [&](ValueId part) { return fits(order, shape(part)); };
                if (std::ranges::all_of(node_->inputs, has_fit)) throughout(order);
            }
        }
        if (computed.empty()) throughout(row_major(input_shape().size()));
    }

    const Graph &graph_;
    int64_t block_;
    std::vector<std::vector<Order>> orders_;  // by value
    const Node *node_ = nullptr;
    std::vector<LayoutOption> found_;
};

}  // namespace

// Blocks of quantized tensors were not measured, so that they are not considered.
std::vector<Order> image_orders(const TypedShape &image, int64_t block) {
    const size_t axes = image.shape.size();
    std::vector<Order> orders = {channels_last(axes)};
    const auto add = [&](const Order &order) {
        const auto is_same = [&](const Order &known) { return lie_alike(known, order, image.shape); };
        if (fits(order, image.shape) && std::ranges::none_of(orders, is_same)) orders.push_back(order);
    };
    add(row_major(axes));
    if (block > 0 && image.type == Element::f32) add(in_blocks(axes, block));
    return orders;
}

std::vector<std::vector<LayoutOption>> layout_options(const Graph &graph, int64_t block) {
    return Options(graph, block).run();
}

graph::Storage storage_of(const TypedShape &form, const Order &order) {
    return {*element_count(form.shape) * size_of(form.type), order};
}

}  // namespace kiln::network
