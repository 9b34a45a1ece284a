// The order in which values die early, against its definition.
#include "graph/memory/node_order.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

// Of the nodes whose inputs are computed, always the one behind which the fewest bytes are alive; of equals the first.
std::vector<int> defined_order(const Graph &graph, const std::vector<int64_t> &bytes) {
    std::map<ValueId, int> producer;
    for (size_t i = 0; i < graph.nodes.size(); i++) producer[graph.nodes[i].output] = static_cast<int>(i);
    std::vector<int> order;
    std::set<int> done;
    const auto inputs = [&](int node) {
        std::set<ValueId> computed;
        for (ValueId id : graph.nodes[node].inputs) {
            if (producer.contains(id)) computed.insert(id);
        }
        return computed;
    };
    const auto is_needed_beside = [&](ValueId id, int node) {
        const bool is_read = std::ranges::any_of(graph.outputs, [&](const Output &o) { return o.value == id; });
        for (int other = 0; other < static_cast<int>(graph.nodes.size()); other++) {
            if (other != node && !done.contains(other) && inputs(other).contains(id)) return true;
        }
        return is_read;
    };
    while (order.size() < graph.nodes.size()) {
        int best = -1;
        int64_t least = 0;
        for (int node = 0; node < static_cast<int>(graph.nodes.size()); node++) {
            const std::set<ValueId> read = inputs(node);
            const auto is_computed = [&](ValueId id) { return done.contains(producer.at(id)); };
            if (done.contains(node) || !std::ranges::all_of(read, is_computed)) continue;
            int64_t growth = bytes[graph.nodes[node].output];
            for (ValueId id : read) growth -= is_needed_beside(id, node) ? 0 : bytes[id];
            if (best < 0 || growth < least) best = node, least = growth;
        }
        done.insert(best);
        order.push_back(best);
    }
    return order;
}

TEST(NodeOrder, is_that_of_its_definition) {
    for (uint64_t i = 0; i < 200; i++) {
        const Graph graph = random_graph(test_seed() * 1000 + i, {.nodes = 40});
        std::vector<int64_t> bytes;
        for (size_t id = 0; id < graph.values.size(); id++) bytes.push_back(1 + static_cast<int64_t>(id * 7919 % 23));
        EXPECT_EQ(thrifty_order(graph, bytes), defined_order(graph, bytes)) << to_text(graph);
    }
}

}  // namespace
}  // namespace kiln::graph
