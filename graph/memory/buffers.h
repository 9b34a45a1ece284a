// Values that share memory as buffers with a lifetime.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "graph/memory/memory_plan.h"

namespace kiln::graph {

struct Buffer {
    int64_t bytes = 0;
    int first = 0, last = 0;  // steps of the order at which it is alive
};

// What a value is a part of.
struct Part {
    Place::Memory memory = Place::Memory::workspace;
    int index = 0;       // of an input, output or constant; in the workspace, of a buffer
    int64_t offset = 0;  // in it
};

struct Buffers {
    std::vector<Part> parts;        // by value
    std::vector<Buffer> workspace;  // buffers that need a place there
    std::vector<int> scratch;       // by node: its buffer there, or -1
    std::vector<int> copied_outputs;
};

// Inputs of a concatenation are parts of its result only with `join_concats`: then the whole result is alive from the first of
// them on, so more may be alive at once.
Buffers make_buffers(const Graph &graph, const MemoryNeeds &needs, const std::vector<int> &order, bool join_concats);

// The largest sum of buffers that are alive at the same step, each as large as its place must be.
int64_t largest_sum(const std::vector<Buffer> &buffers);

int64_t aligned(int64_t bytes);

}  // namespace kiln::graph
