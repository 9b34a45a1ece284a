// Weights that are fetched before they are read.
//
// Weights beyond the caches are read once, in order, by a loop of multiply-adds. A processor's own prefetchers stop at the end of
// a page, and the loop does not look past the multiply-adds that wait for a line: then memory and multipliers take turns. A
// fetch a few kilobytes ahead lets them work at the same time.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>

namespace kiln {

// For each vector that a loop loads from `buffer`, fetches the line that lies `bytes_ahead` behind its first element, into L2.
// Beyond the buffer's end that does nothing. Halide's own prefetches are of the kind that passes the L2 cache by
// (`prefetchnta`): right for what is read once, wrong for weights that several tiles read.
void fetch_ahead(Halide::Pipeline &pipeline, const std::string &buffer, int64_t bytes_ahead);

}  // namespace kiln
