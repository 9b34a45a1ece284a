// What it costs to compute a node in an order of axes, and to move a value from one order into another: measured times of the
// workloads that these become, else estimates.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "network/layout_options.h"
#include "workload/workload.h"

namespace kiln::network {

// ns of one call of a workload's kernel, where that was measured.
using KernelTimes = std::function<std::optional<double>(const Workload &)>;

// What a convolution in another order than channels-last counts as that nobody measured.
enum class Unmeasured {
    not_used,  // for what ships
    as_fast,   // as what was measured of it in any order: to find out what is worth a measurement
};

struct LayoutPrices {
    KernelTimes times = {};  // none: everything is estimated
    Unmeasured unmeasured = Unmeasured::not_used;
};

class LayoutCosts {
public:
    // Both outlive it.
    LayoutCosts(const graph::Graph &graph, const LayoutPrices &prices) : graph_(graph), prices_(prices) {}

    // ns by option. Precondition: the options are the node's.
    std::vector<double> of_node(const graph::Node &node, const std::vector<LayoutOption> &options);
    double of_move(graph::ValueId id, const Order &from, const Order &to);

    int measured() const { return measured_; }  // distinct costs that were asked for
    int estimated() const { return estimated_; }

private:
    std::optional<double> time_of(const Workload &workload);
    std::vector<double> of_convolution(const graph::Node &node, const std::vector<LayoutOption> &options);
    double of_other(const graph::Node &node, const LayoutOption &option);
    double of_nest(const graph::Operator &op, const std::vector<graph::ValueId> &inputs, const LayoutOption &option,
                   const graph::TypedShape &result);
    int64_t bytes(const graph::Node &node) const;

    const graph::Graph &graph_;
    const LayoutPrices &prices_;
    std::map<std::string, std::optional<double>> known_;  // by key
    int measured_ = 0, estimated_ = 0;
};

// The workload of a convolution whose input and result lie in these orders.
Result<Workload> workload_in(const graph::Convolution &op, const graph::TypedShape &x, const graph::TypedShape &weights,
                             const Order &input, const Order &output);

}  // namespace kiln::network
