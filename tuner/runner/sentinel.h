// A fixed piece of work that is timed beside kernels: what it takes says how fast the machine was just then (drift.h).
#pragma once

namespace kiln {

// The median ns of a few short runs, 1 ms in all: multiply-adds on data in the L1 cache for the clock, and a walk
// through as much as the L2 cache holds for what neighbours leave of the shared ones.
double sentinel_ns();

}  // namespace kiln
