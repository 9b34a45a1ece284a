// The speed that the direct method can reach on a machine, from its measured peak and bandwidths (roofline; Williams et
// al., 2009).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compare/timing.h"
#include "tuner/measure/hardware_probe.h"
#include "workload/workload.h"

namespace kiln {

// GFLOP/s, counting the operations of the direct convolution.
double gflops(const Workload &workload, const Timing &timing);

// How much a layer reads and writes at least, and how long that takes where it lies.
struct Traffic {
    double bytes_read = 0, bytes_written = 0;  // every operand once, the result once
    std::string level;                         // of the bandwidth: "L2"
    double ns = 0;                             // at that level's bandwidth
};

// The smallest level that holds all operands and the result, or else memory. Nothing if no bandwidth was measured.
// `bandwidths`: smallest working set first.
std::optional<Traffic> traffic(const Workload &workload, const std::vector<Bandwidth> &bandwidths, int threads);

// Whether a layer is as fast as its bytes come at most: it moves data, or is a convolution of more than `l2_bytes` whose
// operations take less time than its traffic does from memory.
bool bytes_decide(const Workload &workload, const FmaPeak &peak, const std::vector<Bandwidth> &bandwidths,
                  int64_t l2_bytes);

// An estimate in GFLOP/s. It is the FMA peak, or less if the traffic takes longer. There is none if no operations are
// counted. A kernel that skips counted operations, as for taps in the padding or by Winograd, may be faster.
std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads);

}  // namespace kiln
