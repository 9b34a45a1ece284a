// What a network costs, by the times that there are or by estimates alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "network/layout_costs.h"

namespace kiln::network {

// A network with its cost in the layouts that cost least.
struct PricedNetwork {
    graph::Graph prepared;  // its nodes are kernels
    double all_ns = 0;
    std::vector<double> node_ns;  // by node of `prepared`
};

class NetworkPricing {
public:
    // `prices` outlives it. Workloads are asked for once.
    explicit NetworkPricing(const LayoutPrices &prices);
    NetworkPricing(const NetworkPricing &) = delete;
    NetworkPricing &operator=(const NetworkPricing &) = delete;

    PricedNetwork by_times(const graph::Graph &graph) { return priced(graph, prices(times_, &measured_)); }
    PricedNetwork by_estimates(const graph::Graph &graph) { return priced(graph, prices({}, &estimated_)); }

    int64_t priced_nodes() const { return priced_nodes_; }  // of all networks so far

    // Whether the kernel of a convolution was measured in any layout. Nothing for other nodes.
    std::optional<bool> is_measured(const graph::Graph &graph, const graph::Node &node) const;

private:
    PricedNetwork priced(const graph::Graph &graph, const LayoutPrices &prices);
    LayoutPrices prices(const KernelTimes &times, LayoutMemory *memory) const {
        return {times, unmeasured_, block_, memory, is_input_prepared_, reads_planes_};
    }

    KernelTimes times_;
    Unmeasured unmeasured_;
    int64_t block_;
    bool is_input_prepared_;
    ReadsPlanes reads_planes_;
    LayoutMemory measured_, estimated_;
    int64_t priced_nodes_ = 0;
};

// A network that others are compared with, each price asked for once.
class PricedOnce {
public:
    // Both outlive it.
    PricedOnce(NetworkPricing &pricing, const graph::Graph &graph) : pricing_(pricing), graph_(graph) {}

    const PricedNetwork &by_times() { return by_times_ ? *by_times_ : by_times_.emplace(pricing_.by_times(graph_)); }
    const PricedNetwork &by_estimates() {
        return by_estimates_ ? *by_estimates_ : by_estimates_.emplace(pricing_.by_estimates(graph_));
    }

private:
    NetworkPricing &pricing_;
    const graph::Graph &graph_;
    std::optional<PricedNetwork> by_times_, by_estimates_;
};

// The nodes that one network has and the other has not, by index: what another operator or other inputs compute.
struct Difference {
    std::vector<size_t> before, after;
};
Difference difference(const graph::Graph &before, const graph::Graph &after);

}  // namespace kiln::network
