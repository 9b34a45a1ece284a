// Which kernel computes each step of a network, for each target.
#pragma once

#include <string>
#include <vector>

#include "network/program.h"
#include "package/package.h"
#include "workload/result.h"
#include "workload/target.h"

namespace kiln {

struct VariantKernels {
    Target target;
    std::vector<const PackagedKernel *> steps;  // by step of the program; null for a copy
    std::string why_place;                      // a sentence
};

// Best first: by the sum of measured times where every kernel was measured under the same conditions, else the one with more
// features of the CPU. Errors (unsupported): steps without a kernel; the message names the first and their number.
Result<std::vector<VariantKernels>> network_variants(const network::Program &program,
                                                     const std::vector<Target> &targets,
                                                     const std::vector<PackagedKernel> &kernels);

}  // namespace kiln
