// The speed that the direct method can reach on a machine, from its measured peak and bandwidths (roofline; Williams et
// al., 2009).
#pragma once

#include <optional>
#include <vector>

#include "compare/timing.h"
#include "tuner/measure/hardware_probe.h"
#include "workload/workload.h"

namespace kiln {

// GFLOP/s, counting the operations of the direct convolution.
double gflops(const Workload &workload, const Timing &timing);

// An estimate in GFLOP/s. It is the FMA peak, or less if it takes longer to read all operands and write the result
// once, from and to the smallest memory that holds them all. There is none if no operations are counted. A kernel that
// skips counted operations, as for taps in the padding or by Winograd, may be faster. `bandwidths`: smallest working
// set first.
std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads);

}  // namespace kiln
