#include "graph/memory/node_order.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace kiln::graph {
namespace {

class Scheduler {
public:
    Scheduler(const Graph &graph, const std::vector<int64_t> &bytes)
        : graph_(graph), bytes_(bytes), readers_(graph.values.size()), reads_left_(graph.values.size(), 0) {
        std::vector<bool> is_computed(graph.values.size(), false);
        for (const Node &node : graph.nodes) is_computed[node.output] = true;
        for (size_t i = 0; i < graph.nodes.size(); i++) {
            int waits = 0;
            for (ValueId id : distinct(graph.nodes[i])) {
                if (!is_computed[id]) continue;
                reads_left_[id]++;
                readers_[id].push_back(static_cast<int>(i));
                waits++;
            }
            waits_.push_back(waits);
            if (waits == 0) ready_.insert(static_cast<int>(i));
        }
        for (const Output &output : graph.outputs) reads_left_[output.value]++;
    }

    std::vector<int> run() {
        std::vector<int> order;
        while (!ready_.empty()) {
            const int next =
                *std::ranges::min_element(ready_, {}, [&](int node) { return growth(graph_.nodes[node]); });
            ready_.erase(next);
            order.push_back(next);
            for (ValueId id : distinct(graph_.nodes[next])) reads_left_[id]--;
            for (int reader : readers_[graph_.nodes[next].output]) {
                if (--waits_[reader] == 0) ready_.insert(reader);
            }
        }
        return order;
    }

private:
    static std::set<ValueId> distinct(const Node &node) { return {node.inputs.begin(), node.inputs.end()}; }

    // By how much more is alive behind a node than in front of it.
    int64_t growth(const Node &node) const {
        int64_t bytes = bytes_[node.output];
        for (ValueId id : distinct(node)) {
            if (reads_left_[id] == 1) bytes -= bytes_[id];
        }
        return bytes;
    }

    const Graph &graph_;
    const std::vector<int64_t> &bytes_;
    std::vector<std::vector<int>> readers_;  // by value: nodes
    std::vector<int> reads_left_;            // by value; 0 for what no node computes
    std::vector<int> waits_;                 // by node: for so many inputs
    std::set<int> ready_;
};

}  // namespace

std::vector<int> thrifty_order(const Graph &graph, const std::vector<int64_t> &bytes_of_values) {
    return Scheduler(graph, bytes_of_values).run();
}

}  // namespace kiln::graph
