#include "cli/network/network_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "graph/passes/passes.h"
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

Result<NetworkLayers> read_layers(const NetworkOptions &options) {
    const Result<graph::Graph> network = read(options);
    if (!network) return network.error();
    const Result<graph::Graph> graph = graph::run_passes(*network);
    if (!graph) return graph.error();
    NetworkLayers result = layers_of(*graph);
    for (NamedWorkload &layer : result.layers) layer.list = network_name(options.file);
    return result;
}

std::string network_name(const std::string &file) {
    const std::string stem = quoted_line(std::filesystem::path(file).stem().string());
    return stem.empty() ? "network" : stem;
}

}  // namespace kiln
