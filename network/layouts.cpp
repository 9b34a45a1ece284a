#include "network/layouts.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "network/assignment/assignment.h"
#include "network/input_split.h"

namespace kiln::network {
namespace {

using namespace graph;
using OptionsByValue = std::vector<std::vector<LayoutOption>>;

// What is done before a network runs counts for little: it decides between equals.
constexpr double share_before = 1e-3;

// The node that computes each value, or -1.
std::vector<int> producers(const Graph &graph) {
    std::vector<int> result(graph.values.size(), -1);
    for (size_t i = 0; i < graph.nodes.size(); i++) result[graph.nodes[i].output] = int(i);
    return result;
}

AssignmentProblem problem_of(const Graph &graph, const OptionsByValue &options, LayoutCosts &costs) {
    AssignmentProblem problem;
    const std::vector<int> producer = producers(graph);
    const std::vector<bool> is_before =
        costs.is_input_prepared() ? nodes_at_input(graph) : std::vector<bool>(graph.nodes.size());
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        const Node &node = graph.nodes[i];
        problem.nodes.push_back(costs.of_node(node, options[i]));
        if (is_before[i])
            for (double &cost : problem.nodes.back()) cost *= share_before;
        for (size_t k = 0; k < node.inputs.size(); k++) {
            const ValueId id = node.inputs[k];
            const bool is_moved_before =
                costs.is_input_prepared() && (producer[id] < 0 || is_before[size_t(producer[id])]);
            const auto move = [&](const Order &from, const LayoutOption &to) {
                if (!to.inputs[k]) return 0.0;
                return costs.of_move(id, from, *to.inputs[k]) * (is_moved_before ? share_before : 1);
            };
            if (producer[id] < 0) {  // an input of the network
                const Order plain = row_major(graph.values[id].form.shape.size());
                for (size_t b = 0; b < options[i].size(); b++) problem.nodes[i][b] += move(plain, options[i][b]);
                continue;
            }
            AssignmentEdge edge{producer[id], int(i), {}};
            for (const LayoutOption &from : options[edge.a]) {
                for (const LayoutOption &to : options[i]) edge.costs.push_back(move(from.output, to));
            }
            problem.edges.push_back(std::move(edge));
        }
    }
    for (const Output &output : graph.outputs) {
        const int node = producer[output.value];
        if (node < 0) continue;
        const Order plain = row_major(graph.values[output.value].form.shape.size());
        for (size_t a = 0; a < options[node].size(); a++) {
            problem.nodes[node][a] += costs.of_move(output.value, options[node][a].output, plain);
        }
    }
    return problem;
}

// The same with convolutions that are channels-last throughout.
AssignmentProblem channels_last_only(AssignmentProblem problem, const Graph &graph) {
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        if (!std::holds_alternative<Convolution>(graph.nodes[i].op)) continue;
        auto &costs = problem.nodes[i];
        std::fill(costs.begin() + 1, costs.end(), std::numeric_limits<double>::infinity());
    }
    return problem;
}

// The graph with moves where the order that a node writes is not the one that another reads.
class Storing {
public:
    explicit Storing(const Graph &graph) : before_(graph), ids_(graph.values.size(), -1) {
        builder_ = GraphBuilder(Graph{.name = graph.name});
        for (const ValueId id : graph.inputs) {
            ids_[id] = add_row_major(builder_.input(graph.values[id].name, graph.values[id].form));
        }
        for (size_t id = 0; id < graph.values.size(); id++) {
            const Value &value = graph.values[id];
            if (value.constant) ids_[id] = add_row_major(builder_.constant(value.name, value.form, *value.constant));
        }
    }

    void put(const Node &node, const LayoutOption &option) {
        std::vector<ValueId> inputs;
        for (size_t i = 0; i < node.inputs.size(); i++) {
            const ValueId id = ids_[node.inputs[i]];
            inputs.push_back(option.inputs[i] ? in_order(id, *option.inputs[i], node.origins) : id);
        }
        const Value &value = before_.values[node.output];
        const Result<ValueId> made = builder_.node(node.op, std::move(inputs), value.name, node.origins);
        ids_[node.output] = add(*made, option.output);
    }

    StoredGraph finish(std::vector<std::string> origins) && {
        for (const Output &output : before_.outputs) {
            const ValueId id = ids_[output.value];
            builder_.output(output.name, in_order(id, row_major(shape(id).size()), origins));
        }
        StoredGraph result{std::move(builder_).finish(), {}, {}};
        for (size_t id = 0; id < result.graph.values.size(); id++) {
            result.storages.push_back(storage_of(result.graph.values[id].form, orders_[id]));
        }
        return result;
    }

private:
    const Shape &shape(ValueId id) const { return builder_.value(id).form.shape; }

    ValueId add(ValueId id, Order order) {
        orders_.push_back(std::move(order));
        return id;
    }

    ValueId add_row_major(ValueId id) { return add(id, row_major(shape(id).size())); }

    // The value in that order, moved where it lies otherwise.
    ValueId in_order(ValueId id, const Order &order, const std::vector<std::string> &origins) {
        if (lie_alike(orders_[id], order, shape(id))) return id;
        const auto [known, is_new] = moved_.emplace(std::pair(id, order), -1);
        if (!is_new) return known->second;
        const Value value = builder_.value(id);
        if (value.constant)
            return known->second = add(builder_.constant(value.name, value.form, *value.constant), order);
        const std::vector<int> same = row_major(value.form.shape.size()).axes;
        const Result<ValueId> made = builder_.node(Transpose{same}, {id}, value.name, origins);
        return known->second = add(*made, order);
    }

    const Graph &before_;
    GraphBuilder builder_;
    std::vector<ValueId> ids_;   // by value of the graph before
    std::vector<Order> orders_;  // by new value
    std::map<std::pair<ValueId, Order>, ValueId> moved_;
};

}  // namespace

StoredGraph choose_layouts(const Graph &graph, const LayoutPrices &prices) {
    const OptionsByValue options = layout_options(graph, prices.block);
    LayoutCosts costs(graph, prices);
    const AssignmentProblem problem = problem_of(graph, options, costs);
    const Assignment chosen = solve(problem);
    Storing storing(graph);
    std::vector<std::string> origins;
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        storing.put(graph.nodes[i], options[i][size_t(chosen.choices[i])]);
        origins = graph.nodes[i].origins;
    }
    StoredGraph result = std::move(storing).finish(std::move(origins));
    result.summary = {.cost_ns = chosen.cost,
                      .lower_bound_ns = chosen.lower_bound,
                      .channels_last_ns = solve(channels_last_only(problem, graph)).cost,
                      .measured = costs.measured(),
                      .estimated = costs.estimated()};
    return result;
}

LayoutCost cost_of_layouts(const Graph &graph, const LayoutPrices &prices) {
    const OptionsByValue options = layout_options(graph, prices.block);
    LayoutCosts costs(graph, prices);
    const AssignmentProblem problem = problem_of(graph, options, costs);
    const Assignment chosen = solve(problem);
    LayoutCost result{.all_ns = chosen.cost, .node_ns = {}};
    const auto choice = [&](int node) { return size_t(chosen.choices[size_t(node)]); };
    for (size_t i = 0; i < graph.nodes.size(); i++) result.node_ns.push_back(problem.nodes[i][choice(int(i))]);
    for (const AssignmentEdge &edge : problem.edges) {
        const size_t ways = problem.nodes[size_t(edge.b)].size();
        result.node_ns[size_t(edge.b)] += edge.costs[choice(edge.a) * ways + choice(edge.b)];
    }
    return result;
}

}  // namespace kiln::network
