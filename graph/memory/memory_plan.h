// Where the values of a network lie while it runs: in the caller's inputs and outputs, among the weights, or in one workspace
// whose size is known before.
//
// Values share memory in two ways. Some are the bytes of others: reshapes, transposes that move nothing, parts, and the inputs
// of a concatenation, which are computed where it wants them. And element-wise nodes, and convolutions that add to their sums, write
// over an input that nobody reads afterwards. All other values that are alive at the same time lie apart.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/memory/storage.h"

namespace kiln::graph {

inline constexpr int64_t workspace_alignment =
    64;  // of every buffer in the workspace; parts of one may lie anywhere in it

struct Place {
    enum class Memory { input, output, constant, workspace } memory = Memory::workspace;
    int index = 0;       // of the graph's input or output; of the value that is a constant
    int64_t offset = 0;  // bytes
    bool operator==(const Place &) const = default;
};

struct MemoryPlan {
    std::vector<int> order;        // of the nodes, by index
    std::vector<Place> places;     // by value
    std::vector<int64_t> scratch;  // by node: offset in the workspace of what it needs while it runs
    std::vector<int>
        copied_outputs;       // whose values lie elsewhere: what comes from an input or a constant, or has two names
    int64_t workspace = 0;    // bytes
    int64_t lower_bound = 0;  // the largest sum of bytes that are alive at once, in this order
};

struct MemoryNeeds {
    std::vector<Storage> storages;  // by value
    std::vector<int64_t> scratch;   // by node; empty: none
};

// In the order of the graph's nodes, or in another one where that needs less.
MemoryPlan plan_memory(const Graph &graph, const MemoryNeeds &needs);

// Proves that a plan is right: it follows what every byte holds, node by node. The error names the node that would read
// something else than its inputs.
Status check_plan(const Graph &graph, const MemoryNeeds &needs, const MemoryPlan &plan);

}  // namespace kiln::graph
