#include "cli/network/network_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph/workloads/network_workloads.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

std::string note(const graph::NetworkWorkloads &workloads, size_t distinct) {
    std::vector<std::pair<int, std::string>> others;
    int count = 0;
    for (const auto &[what, nodes] : workloads.others) {
        others.emplace_back(-nodes, what);  // the most frequent first
        count += nodes;
    }
    std::ranges::sort(others);
    std::string text = fmt::format("{} of {} nodes are layers that can be tuned, {} of them distinct",
                                   workloads.nodes.size(), workloads.nodes.size() + size_t(count), distinct);
    for (size_t i = 0; i < others.size(); i++) {
        text += fmt::format("{}{} {}", i == 0 ? "; no workload yet: " : ", ", -others[i].first, others[i].second);
    }
    return text;
}

}  // namespace

NetworkLayers layers_of(const graph::Graph &graph) {
    const graph::NetworkWorkloads workloads = graph::workloads_of(graph);
    NetworkLayers result;
    for (const graph::NodeWorkload &node : workloads.nodes) {
        result.layers.push_back({.list = {}, .name = quoted_line(node.name), .count = 1, .workload = node.workload});
    }
    result.layers = merge_equal(result.layers);
    result.note = note(workloads, result.layers.size());
    return result;
}

}  // namespace kiln
