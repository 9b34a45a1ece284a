// The same network for several images at once.
#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "workload/result.h"

namespace kiln::graph {

// A graph whose inputs begin with an axis of one image, for `batch` of them: each slice of its results along the axis of images is what
// the graph computes of that slice of its inputs. Values that depend on no input stay as they are.
//
// Errors: an input that does not begin with an axis of extent 1 (bad input), and a node that joins images or has no axis of them in its
// result (unsupported). The message names it.
Result<Graph> with_batch(const Graph &graph, int64_t batch);

}  // namespace kiln::graph
