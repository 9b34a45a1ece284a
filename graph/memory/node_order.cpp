#include "graph/memory/node_order.h"

#include <cstddef>
#include <set>
#include <utility>

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
            growth_.push_back(bytes[graph.nodes[i].output]);
        }
        is_done_.resize(graph.nodes.size());
        for (const Output &output : graph.outputs) reads_left_[output.value]++;
        for (size_t id = 0; id < reads_left_.size(); id++) {
            if (reads_left_[id] == 1) last_reader_frees(static_cast<ValueId>(id));
        }
        for (size_t i = 0; i < waits_.size(); i++) {
            if (waits_[i] == 0) ready_.emplace(growth_[i], static_cast<int>(i));
        }
    }

    std::vector<int> run() {
        std::vector<int> order;
        while (!ready_.empty()) {
            const int next = ready_.begin()->second;
            ready_.erase(ready_.begin());
            is_done_[next] = true;
            order.push_back(next);
            for (ValueId id : distinct(graph_.nodes[next])) {
                if (--reads_left_[id] == 1) last_reader_frees(id);
            }
            for (int reader : readers_[graph_.nodes[next].output]) {
                if (--waits_[reader] == 0) ready_.emplace(growth_[reader], reader);
            }
        }
        return order;
    }

private:
    static std::set<ValueId> distinct(const Node &node) { return {node.inputs.begin(), node.inputs.end()}; }

    // Whoever reads a value last ends its life, so less is alive behind that node.
    void last_reader_frees(ValueId id) {
        for (int reader : readers_[id]) {
            if (is_done_[reader]) continue;
            const bool was_ready = ready_.erase({growth_[reader], reader}) > 0;
            growth_[reader] -= bytes_[id];
            if (was_ready) ready_.emplace(growth_[reader], reader);
        }
    }

    const Graph &graph_;
    const std::vector<int64_t> &bytes_;
    std::vector<std::vector<int>> readers_;    // by value: nodes
    std::vector<int> reads_left_;              // by value; 0 for what no node computes
    std::vector<int> waits_;                   // by node: for so many inputs
    std::vector<int64_t> growth_;              // by node: by how much more is alive behind it than in front of it
    std::vector<bool> is_done_;                // by node
    std::set<std::pair<int64_t, int>> ready_;  // nodes with their growth, the least first
};

}  // namespace

std::vector<int> thrifty_order(const Graph &graph, const std::vector<int64_t> &bytes_of_values) {
    return Scheduler(graph, bytes_of_values).run();
}

}  // namespace kiln::graph
