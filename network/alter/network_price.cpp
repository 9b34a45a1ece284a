#include "network/alter/network_price.h"

#include <iterator>
#include <map>
#include <memory>

#include "network/emit.h"
#include "network/layouts.h"

namespace kiln::network {
namespace {

using namespace graph;

// The same times, each asked for once.
KernelTimes remembered(const KernelTimes &times) {
    if (!times) return {};
    return [&times, known = std::make_shared<std::map<std::string, std::optional<double>>>()](
               const Workload &workload) -> std::optional<double> {
        const auto [found, is_new] = known->emplace(key(workload), std::nullopt);
        if (is_new) found->second = times(workload);
        return found->second;
    };
}

std::map<std::string, const Node *> by_name(const Graph &graph) {
    std::map<std::string, const Node *> nodes;
    for (const Node &node : graph.nodes) nodes.emplace(graph.values[node.output].name, &node);
    return nodes;
}

bool is_same(const Graph &a, const Node &x, const Graph &b, const Node &y) {
    if (x.inputs.size() != y.inputs.size() || x.op != y.op) return false;
    for (size_t i = 0; i < x.inputs.size(); i++) {
        const Value &left = a.values[x.inputs[i]], &right = b.values[y.inputs[i]];
        if (left.name != right.name || left.form != right.form ||
            left.constant.has_value() != right.constant.has_value())
            return false;
    }
    return true;
}

std::vector<size_t> only_in(const Graph &graph, const Graph &other) {
    const std::map<std::string, const Node *> others = by_name(other);
    std::vector<size_t> result;
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        const auto found = others.find(graph.values[graph.nodes[i].output].name);
        if (found == others.end() || !is_same(graph, graph.nodes[i], other, *found->second)) result.push_back(i);
    }
    return result;
}

}  // namespace

NetworkPricing::NetworkPricing(const LayoutPrices &prices)
    : times_(remembered(prices.times)),
      unmeasured_(prices.unmeasured),
      block_(prices.block),
      is_input_prepared_(prices.is_input_prepared),
      reads_planes_(prices.reads_planes) {}

PricedNetwork NetworkPricing::priced(const Graph &graph, const LayoutPrices &prices) {
    priced_nodes_ += std::ssize(graph.nodes);
    PricedNetwork result{.prepared = prepared(graph)};
    LayoutCost cost = cost_of_layouts(result.prepared, prices);
    result.all_ns = cost.all_ns;
    result.node_ns = std::move(cost.node_ns);
    return result;
}

std::optional<bool> NetworkPricing::is_measured(const Graph &graph, const Node &node) const {
    const auto *op = std::get_if<Convolution>(&node.op);
    if (!op) return {};
    if (!times_) return false;
    const TypedShape &x = graph.values[node.inputs[0]].form, &weights = graph.values[node.inputs[1]].form;
    const TypedShape &y = graph.values[node.output].form;
    for (const Order &input : image_orders(x, block_)) {
        for (const Order &output : image_orders(y, block_)) {
            const Result<Workload> workload = workload_in(*op, x, weights, input, output);
            if (workload && times_(*workload)) return true;
        }
    }
    return false;
}

Difference difference(const Graph &before, const Graph &after) {
    return {only_in(before, after), only_in(after, before)};
}

}  // namespace kiln::network
