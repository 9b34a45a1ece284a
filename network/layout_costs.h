// What it costs to compute a node in an order of axes, and to move a value from one order into another: measured times of the
// workloads that these become, else estimates.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// Costs that were asked for before, so that graphs with most of their nodes in common are priced one after the other.
class LayoutMemory {
public:
    // All that the costs of a node depend on, beside the times of kernels.
    struct Question {
        graph::Operator op;
        std::vector<graph::TypedShape> inputs;
        std::vector<LayoutOption> options;
        bool operator==(const Question &) const = default;
    };
    struct Move {
        graph::TypedShape form;
        Order from, to;
        bool operator==(const Move &) const = default;
    };

    // Questions are found again by the name of the node's result.
    std::vector<double> of_node(const std::string &name, const Question &question,
                                const std::function<std::vector<double>()> &compute);
    double of_move(const Move &move, const std::function<double()> &compute);

private:
    struct Answer {
        Question question;
        std::vector<double> costs;
    };
    std::map<std::string, std::vector<Answer>> nodes_;
    std::map<graph::Shape, std::vector<std::pair<Move, double>>> moves_;
};

// Whether a convolution that nobody measured takes as long as its channels-last form. It is asked of those that read NCHW and write
// channels-last.
using ReadsPlanes = std::function<bool(const Workload &)>;

struct LayoutPrices {
    KernelTimes times = {};  // none: everything is estimated
    Unmeasured unmeasured = Unmeasured::not_used;
    int64_t block = 0;               // channels of a block in NCHW<block>c; 0: no layout has blocks
    LayoutMemory *memory = nullptr;  // of the same times, for graphs that have most of their nodes in common
    bool is_input_prepared =
        false;                      // what stands at the inputs (network/input_split.h) is done before the network runs
    ReadsPlanes reads_planes = {};  // none does
};

class LayoutCosts {
public:
    // Both outlive it.
    LayoutCosts(const graph::Graph &graph, const LayoutPrices &prices) : graph_(graph), prices_(prices) {}

    // ns by option. Precondition: the options are the node's.
    std::vector<double> of_node(const graph::Node &node, const std::vector<LayoutOption> &options);
    double of_move(graph::ValueId id, const Order &from, const Order &to);

    bool is_input_prepared() const { return prices_.is_input_prepared; }
    int measured() const { return measured_; }  // distinct costs that were asked for
    int estimated() const { return estimated_; }

private:
    std::vector<double> computed(const graph::Node &node, const std::vector<LayoutOption> &options);
    double computed_move(const graph::TypedShape &form, const Order &from, const Order &to);
    std::optional<double> time_of(const Workload &workload);
    std::vector<double> of_convolution(const graph::Node &node, const std::vector<LayoutOption> &options);
    double of_other(const graph::Node &node, const LayoutOption &option);
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
