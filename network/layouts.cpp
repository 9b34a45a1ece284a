#include "network/layouts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace kiln::network {
namespace {

using namespace graph;

using Order = std::vector<int>;  // axes, the outermost in memory first

Order row_major(size_t axes) {
    Order order(axes);
    std::iota(order.begin(), order.end(), 0);
    return order;
}

// N, spatial..., C.
Order channels_last(size_t axes) {
    Order order = row_major(axes);
    if (axes > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return order;
}

// spatial..., I, O of O, I, spatial....
Order kernel_order(size_t axes) {
    Order order = row_major(axes);
    std::rotate(order.begin(), order.begin() + 2, order.end());
    std::swap(order[axes - 2], order[axes - 1]);
    return order;
}

// Without the axes of one element, which have no place in memory.
Order wide(const Order &order, const Shape &shape) {
    Order result = order;
    std::erase_if(result, [&](int axis) { return shape[axis] == 1; });
    return result;
}

// Orders the axes of `other` as far as the digits of their indices allow: each goes where `order` has the axis of `shape` that
// its outermost digit belongs to.
Order reordered(const Shape &shape, const Order &order, const Shape &other) {
    const Shape steps = row_major_strides(shape), other_steps = row_major_strides(other);
    std::vector<size_t> places(other.size(), 0);
    for (size_t axis = 0; axis < other.size(); axis++) {
        for (size_t place = 0; place < order.size(); place++) {
            const int64_t step = steps[order[place]], extent = shape[order[place]];
            const int64_t digit = other_steps[axis] * other[axis];  // just above the outermost digit
            if (extent > 1 && other[axis] > 1 && digit > step && digit <= step * extent) places[axis] = place;
        }
    }
    Order result = row_major(other.size());
    std::ranges::stable_sort(result, {}, [&](int axis) { return places[axis]; });
    return result;
}

class Choice {
public:
    explicit Choice(const Graph &graph) : before_(graph), ids_(graph.values.size(), -1) {
        builder_ = GraphBuilder(Graph{.name = graph.name});
        for (const ValueId id : graph.inputs) {
            ids_[id] = add(builder_.input(graph.values[id].name, graph.values[id].form), {});
        }
        for (size_t id = 0; id < graph.values.size(); id++) {
            const Value &value = graph.values[id];
            if (value.constant) ids_[id] = add(builder_.constant(value.name, value.form, *value.constant), {});
        }
    }

    StoredGraph run() {
        for (const Node &node : before_.nodes) {
            current_ = &node;
            std::visit([&](const auto &op) { visit(op); }, node.op);
        }
        for (const Output &output : before_.outputs) {
            const ValueId id = ids_[output.value];
            builder_.output(output.name, in_order(id, row_major(shape(id).size())));
        }
        StoredGraph result{std::move(builder_).finish(), {}};
        for (size_t id = 0; id < result.graph.values.size(); id++) {
            const TypedShape &form = result.graph.values[id].form;
            result.storages.push_back({*element_count(form.shape) * size_of(form.type), orders_[id]});
        }
        return result;
    }

private:
    const Shape &shape(ValueId id) const { return builder_.value(id).form.shape; }
    bool is_constant(ValueId id) const { return builder_.value(id).constant.has_value(); }
    Storage storage(ValueId id) const { return storage(id, orders_[id]); }
    Storage storage(ValueId id, const Order &order) const {
        const TypedShape &form = builder_.value(id).form;
        return {*element_count(form.shape) * size_of(form.type), order};
    }

    // An empty order is row-major.
    ValueId add(ValueId id, Order order) {
        orders_.push_back(order.empty() ? row_major(shape(id).size()) : std::move(order));
        return id;
    }

    // The value in that order, moved where it lies otherwise.
    ValueId in_order(ValueId id, const Order &order) {
        if (wide(orders_[id], shape(id)) == wide(order, shape(id))) return id;
        const auto [known, is_new] = moved_.emplace(std::pair(id, order), -1);
        if (!is_new) return known->second;
        const Value value = builder_.value(id);
        if (value.constant)
            return known->second = add(builder_.constant(value.name, value.form, *value.constant), order);
        const Order same = row_major(value.form.shape.size());
        const Result<ValueId> made = builder_.node(Transpose{same}, {id}, value.name, current_->origins);
        return known->second = add(*made, order);
    }

    ValueId input(size_t index) const { return ids_[current_->inputs[index]]; }
    std::vector<ValueId> inputs() const {
        std::vector<ValueId> result;
        for (const ValueId id : current_->inputs) result.push_back(ids_[id]);
        return result;
    }

    void put(std::vector<ValueId> inputs, Order order) {
        const Value &value = before_.values[current_->output];
        const Result<ValueId> made = builder_.node(current_->op, std::move(inputs), value.name, current_->origins);
        ids_[current_->output] = add(*made, std::move(order));
    }

    void visit(const Convolution &) {
        const size_t axes = shape(input(0)).size();
        std::vector<ValueId> taken = inputs();
        taken[0] = in_order(taken[0], channels_last(axes));
        taken[1] = in_order(taken[1], kernel_order(axes));
        for (size_t i = 2; i < taken.size(); i++) {
            if (shape(taken[i]).size() == axes) taken[i] = in_order(taken[i], channels_last(axes));
        }
        put(std::move(taken), channels_last(axes));
    }

    void visit(const MatrixProduct &) { put(inputs(), {}); }

    // The order of the largest input that is no constant, if the axes agree.
    void visit(const Elementwise &op) {
        const std::vector<ValueId> taken = inputs();
        std::optional<ValueId> largest;
        for (const ValueId id : taken) {
            if (is_constant(id) || shape(id).size() != op.shape.size()) continue;
            if (!largest || *element_count(shape(id)) > *element_count(shape(*largest))) largest = id;
        }
        put(taken, largest ? orders_[*largest] : Order());
    }

    void visit(const Pool &) { keep_order(); }
    void visit(const Reduce &) { keep_order(); }
    void visit(const Normalize &) { keep_order(); }
    void visit(const Resample &) { keep_order(); }
    void keep_order() { put(inputs(), orders_[input(0)]); }

    void visit(const Transpose &op) {
        Order order;
        for (const int axis : orders_[input(0)]) {
            order.push_back(static_cast<int>(std::ranges::find(op.permutation, axis) - op.permutation.begin()));
        }
        put(inputs(), std::move(order));
    }

    bool keeps(const Reshape &op, ValueId x, const Order &before, const Order &after) const {
        const TypedShape result{builder_.value(x).form.type, op.shape};
        const Storage from = storage(x, before), to{from.bytes, after};
        return keeps_bytes(op, {&builder_.value(x).form, &from}, {&result, &to});
    }

    // The bytes as they are; else channels-last after one move, where a convolution may want them so; else row-major.
    void visit(const Reshape &op) {
        const ValueId x = input(0);
        const Order same = reordered(shape(x), orders_[x], op.shape);
        if (keeps(op, x, orders_[x], same)) return put({x}, same);
        const Order last = channels_last(op.shape.size());
        const Order wanted = reordered(op.shape, last, shape(x));
        const bool is_row_major = std::ranges::is_sorted(wide(orders_[x], shape(x)));
        if (!is_row_major && keeps(op, x, wanted, last)) return put({in_order(x, wanted)}, last);
        put({in_order(x, row_major(shape(x).size()))}, {});
    }

    void visit(const Concat &) {
        std::vector<ValueId> taken = inputs();
        const auto computed = std::ranges::find_if(taken, [&](ValueId id) { return !is_constant(id); });
        const Order order = orders_[computed == taken.end() ? taken[0] : *computed];
        for (ValueId &id : taken) id = in_order(id, order);
        put(std::move(taken), order);
    }

    const Graph &before_;
    const Node *current_ = nullptr;
    GraphBuilder builder_;
    std::vector<ValueId> ids_;   // by value of the graph before
    std::vector<Order> orders_;  // by new value
    std::map<std::pair<ValueId, Order>, ValueId> moved_;
};

}  // namespace

StoredGraph choose_layouts(const Graph &graph) { return Choice(graph).run(); }

}  // namespace kiln::network
