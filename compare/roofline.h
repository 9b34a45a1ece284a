// What the direct method can reach on a machine, from its measured peak and bandwidths (roofline; Williams et al., 2009).
#pragma once

#include <optional>
#include <vector>

#include "compare/timing.h"
#include "tuner/measure/hardware_probe.h"
#include "workload/workload.h"

namespace kiln {

// GFLOP/s, counting the operations of the direct convolution.
double gflops(const Workload &workload, const Timing &timing);

// An estimate, GFLOP/s: the FMA peak, or less where it takes longer to read all operands and write the result once, from
// and to the smallest memory that holds them all. Nothing where no operations are counted. Counted operations that a
// kernel skips, taps in the padding and what Winograd saves, take it past this. `bandwidths`: smallest working set first.
std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads);

}  // namespace kiln
