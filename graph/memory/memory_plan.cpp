#include "graph/memory/memory_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/memory/buffers.h"
#include "graph/memory/node_order.h"
#include "graph/memory/placement.h"

namespace kiln::graph {
namespace {

MemoryPlan plan_in_order(const Graph &graph, const MemoryNeeds &needs, const std::vector<int> &order,
                         bool join_concats) {
    const Buffers buffers = make_buffers(graph, needs, order, join_concats);
    MemoryPlan plan;
    plan.order = order;
    plan.copied_outputs = buffers.copied_outputs;
    plan.lower_bound = largest_sum(buffers.workspace);
    const Placement placement = place(buffers.workspace, plan.lower_bound);
    plan.workspace = placement.bytes;
    for (const Part &part : buffers.parts) {
        if (part.memory == Place::Memory::workspace) {
            plan.places.push_back({part.memory, 0, placement.offsets[part.index] + part.offset});
        } else {
            plan.places.push_back({part.memory, part.index, part.offset});
        }
    }
    for (int buffer : buffers.scratch) plan.scratch.push_back(buffer < 0 ? 0 : placement.offsets[buffer]);
    return plan;
}

// With parts of concatenations in place, unless that costs much memory.
MemoryPlan plan_in_order(const Graph &graph, const MemoryNeeds &needs, const std::vector<int> &order) {
    constexpr double worth_no_copies = 1.1;
    MemoryPlan joined = plan_in_order(graph, needs, order, true), apart = plan_in_order(graph, needs, order, false);
    const int64_t lower_bound = std::min(joined.lower_bound, apart.lower_bound);
    // Beside the bound rather than the other plan, whose own holes must not come on top.
    const bool is_small = joined.workspace <= apart.workspace ||
                          static_cast<double>(joined.workspace) <= worth_no_copies * static_cast<double>(lower_bound);
    MemoryPlan &plan = is_small ? joined : apart;
    plan.lower_bound = lower_bound;
    return plan;
}

}  // namespace

MemoryPlan plan_memory(const Graph &graph, const MemoryNeeds &needs) {
    std::vector<int> order(graph.nodes.size());
    std::iota(order.begin(), order.end(), 0);
    MemoryPlan plan = plan_in_order(graph, needs, order);
    std::vector<int64_t> bytes;
    for (const Storage &storage : needs.storages) bytes.push_back(storage.bytes);
    MemoryPlan other = plan_in_order(graph, needs, thrifty_order(graph, bytes));
    return other.workspace < plan.workspace ? other : plan;
}

}  // namespace kiln::graph
