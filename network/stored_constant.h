// The bytes of a constant in the order of its storage.
#pragma once

#include "graph/graph.h"
#include "graph/memory/storage.h"

namespace kiln::network {

// Shares the constant's bytes where they lie in that order already.
graph::ConstantData as_stored(const graph::Value &constant, const graph::Storage &storage);

}  // namespace kiln::network
