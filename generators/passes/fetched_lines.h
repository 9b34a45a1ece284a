// Lines of memory that are fetched before they are read or written.
//
// Weights beyond the caches are read once, in order, by a loop of multiply-adds. A processor's own prefetchers stop at the end of
// a page, and the loop does not look past the multiply-adds that wait for a line: then memory and multipliers take turns. A
// fetch a few kilobytes ahead lets them work at the same time. Results wait, too: a store needs its line first, and few stores
// can wait at a time.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>

#include "generators/passes/line_fetch.h"

namespace kiln {

// For each vector that a loop loads from `buffer` (or stores there), fetches the line that lies `bytes_ahead` behind its first
// element, into L2. Beyond the buffer's end that does nothing. Halide's own prefetches are of the kind that passes the L2 cache by
// (`prefetchnta`): right for what is read once, wrong for weights that several tiles read.
void fetch_ahead(Halide::Pipeline &pipeline, const std::string &buffer, int64_t bytes_ahead,
                 Access access = Access::read);

// Where a loop's body reads vectors of `buffer` behind loops of its own, as an epilogue behind a sum, fetches their lines in front of
// those loops, into L1. The numbers of a tile lie in lines that are far apart, so nothing else asks for them before they are needed.
void fetch_before_loops(Halide::Pipeline &pipeline, const std::string &buffer);

// Prefetches of Halide's schedules into L1 and L2, in place of those that pass L2 by: lines that never were in L2 are dropped
// where L3 only keeps what L2 drops, and come from memory again each time.
void fetch_into_caches(Halide::Pipeline &pipeline);

}  // namespace kiln
