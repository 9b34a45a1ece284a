// What turns a graph behind all passes into one whose nodes are single kernels. Pure functions, like the passes.
#pragma once

#include "graph/graph.h"

namespace kiln::network {

// Softmax and the normalization by mean and variance become reductions with element-wise nodes between them, each of which
// is one nest. Their temporary values get a place in the memory plan like any other.
graph::Graph expand_normalizations(const graph::Graph &graph);

// A value without elements is a constant, so that what depends on nothing else is one, too: a kernel always has something to
// read.
graph::Graph fold_empty_values(const graph::Graph &graph);

// What is computed of numbers alone, as passes leave it of conditions that are constant, is a constant or a repeated one.
graph::Graph fold_without_operands(const graph::Graph &graph);

// Resamples of many axes become several: weighted sums along two axes, which then take fewer products, and what has more operands than
// a nest.
graph::Graph split_resamples(const graph::Graph &graph);

// Conditions are stored as f32, and element-wise nodes cast what they read. So are constants of types that tensors of nests do
// not have, those of i32 among floats, and computed integers of such types, such as the places of maxima, if all that they can
// be are numbers of f32. Integers of 64 bits that the caller gives are read as i32, their lower halves. Inputs and outputs of f16 and
// bf16 get nodes that convert them and do nothing else.
graph::Graph store_as_floats(const graph::Graph &graph);

}  // namespace kiln::network
