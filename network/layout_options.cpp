#include "network/layout_options.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace kiln::network {
namespace {

using namespace graph;

constexpr size_t most_orders = 6;  // of one value that are considered

class Options {
public:
    explicit Options(const Graph &graph) : graph_(graph), orders_(graph.values.size()) {}

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

    void visit(const Convolution &) {
        const size_t axes = input_shape().size();
        const auto orders = [&](const Shape &shape) {
            std::vector<Order> both = {channels_last(axes), row_major(axes)};
            if (lie_alike(both[0], both[1], shape)) both.pop_back();
            return both;
        };
        for (const Order &output : orders(shape(node_->output))) {
            for (const Order &input : orders(input_shape())) {
                LayoutOption option{{input, kernel_order(axes)}, output};
                for (size_t i = 2; i < node_->inputs.size(); i++) {
                    option.inputs.push_back(input_shape(i).size() == axes ? output : Order());
                }
                add(std::move(option));
            }
        }
    }

    void visit(const MatrixProduct &) { add({{}, row_major(shape(node_->output).size())}); }

    // The order of the largest input that is no constant, if the axes agree; inputs as large lie alike.
    void visit(const Elementwise &op) {
        std::optional<size_t> largest;
        for (size_t i = 0; i < node_->inputs.size(); i++) {
            if (is_constant(node_->inputs[i]) || input_shape(i).size() != op.shape.size()) continue;
            if (!largest || *element_count(input_shape(i)) > *element_count(input_shape(*largest))) largest = i;
        }
        // What is broadcast lies alike in orders in which the result does not.
        std::vector<Order> orders;
        if (largest) orders = orders_of(node_->inputs[*largest]);
        if (!largest || input_shape(*largest) != op.shape) {
            for (Order &order : std::vector<Order>{row_major(op.shape.size()), channels_last(op.shape.size())}) {
                const bool is_there =
                    std::ranges::any_of(orders, [&](const Order &known) { return lie_alike(known, order, op.shape); });
                if (!is_there) orders.push_back(std::move(order));
            }
        }
        // Outputs of other types than those of tensors between kernels are not moved any more.
        const Element type = form(node_->output).type;
        if (type != Element::f32 && type != Element::i32 && type != Element::i8 && type != Element::u8)
            orders = {row_major(op.shape.size())};
        if (!largest) {
            for (const Order &order : orders) add({{}, order});
            return;
        }
        for (const Order &order : orders) {
            LayoutOption option{{}, order};
            for (size_t i = 0; i < node_->inputs.size(); i++) {
                option.inputs.push_back(input_shape(i) == input_shape(*largest) ? order : Order());
            }
            add(std::move(option));
        }
    }

    void visit(const Pool &) { keep_order(); }
    void visit(const Reduce &) { keep_order(); }
    void visit(const Normalize &) { keep_order(); }
    void visit(const Resample &) { keep_order(); }
    void keep_order() {
        for (const Order &order : orders_of(node_->inputs[0])) add({{order}, order});
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
        for (const ValueId id : computed) {
            for (const Order &order : orders_of(id)) {
                add({std::vector<Order>(node_->inputs.size(), order), order});
            }
        }
        const Order plain = row_major(input_shape().size());
        if (computed.empty()) add({std::vector<Order>(node_->inputs.size(), plain), plain});
    }

    const Graph &graph_;
    std::vector<std::vector<Order>> orders_;  // by value
    const Node *node_ = nullptr;
    std::vector<LayoutOption> found_;
};

}  // namespace

std::vector<std::vector<LayoutOption>> layout_options(const Graph &graph) { return Options(graph).run(); }

graph::Storage storage_of(const TypedShape &form, const Order &order) {
    return {*element_count(form.shape) * size_of(form.type), order};
}

}  // namespace kiln::network
