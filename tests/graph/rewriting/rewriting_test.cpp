// What passes compute of constants is bounded, however many ask for it.
#include "graph/rewriting/rewriting.h"

#include <gtest/gtest.h>

#include "tests/graph/passes/sketch.h"

namespace kiln::graph {
namespace {

std::optional<ValueId> nothing(Rewriting &, const Node &) { return {}; }

TEST(Rewriting, computes_what_constants_give_within_a_bound) {
    const struct {
        int64_t extent;
        int products;
        size_t left;  // that are still nodes
    } rows[] = {{64, 1, 0}, {64, 20, 0}, {1024, 1, 1}, {512, 3, 1}};
    for (const auto &row : rows) {
        Sketch sketch;
        std::vector<ValueId> outputs;
        for (int i = 0; i < row.products; i++) {
            const Shape square{row.extent, row.extent};
            outputs.push_back(sketch.node(MatrixProduct{}, {sketch.random(square), sketch.random(square)}));
        }
        const Graph graph = std::move(sketch).finish(outputs);
        EXPECT_EQ(rewrite(graph, nothing).nodes.size(), row.left) << row.extent;
        EXPECT_EQ(rewrite_once(graph, nothing).nodes.size(), row.left) << row.extent;
    }
}

}  // namespace
}  // namespace kiln::graph
