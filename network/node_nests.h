// Operators as nests. Inputs and the result lie in memory as their storages say; elements are f32, i32, i8 and u8.
//
// An error is the reason why it is none, a few words.
#pragma once

#include <vector>

#include "graph/operator.h"
#include "network/nest_builder.h"
#include "workload/result.h"

namespace kiln::network {

struct StoredNode {
    std::vector<graph::Stored> inputs;
    graph::Stored result;
};

Result<NodeNest> nest_of(const graph::Elementwise &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Reduce &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::MatrixProduct &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Pool &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Transpose &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Resample &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Gather &op, const StoredNode &node);  // both inputs row-major, indices of i32

}  // namespace kiln::network
