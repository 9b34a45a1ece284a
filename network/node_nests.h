// Operators as nests. Inputs and the result lie in memory as their storages say; elements are f32, i32, i8 and u8, and i64 of
// what is only moved.
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

// Integers of 64 bits as they lie in memory: two of 32 each, along an innermost axis, the lower one first. No axis is in blocks.
struct Halves {
    explicit Halves(const graph::Stored &whole)
        : form{graph::Element::i32, whole.form->shape}, storage(*whole.storage) {
        storage.order.axes.push_back(static_cast<int>(form.shape.size()));
        form.shape.push_back(2);
    }
    graph::Stored stored() const { return {&form, &storage}; }

    graph::TypedShape form;
    graph::Storage storage;
};

Result<NodeNest> nest_of(const graph::Elementwise &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Reduce &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::MatrixProduct &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Pool &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Transpose &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Resample &op, const StoredNode &node);
Result<NodeNest> nest_of(const graph::Gather &op, const StoredNode &node);  // both inputs row-major, indices of i32

}  // namespace kiln::network
