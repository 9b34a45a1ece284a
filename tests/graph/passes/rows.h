// Tables of small graphs before and after a pass.
#pragma once

#include <functional>
#include <vector>

#include "tests/graph/passes/sketch.h"

namespace kiln::graph {

using Ids = std::vector<ValueId>;

struct Row {
    const char *what;
    std::function<Ids(Sketch &)> before;  // returns the outputs
    const char *after;                    // what told() says
};

inline void expect_rows(const std::vector<Row> &rows, Graph (*pass)(const Graph &), Closeness closeness = {}) {
    uint64_t seed = 1;
    for (const Row &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch(seed);
        const Ids outputs = row.before(sketch);
        const Graph before = std::move(sketch).finish(outputs);
        EXPECT_EQ(told(pass(before)), row.after);
        expect_same_results(before, pass, seed++, closeness);
    }
}

}  // namespace kiln::graph
