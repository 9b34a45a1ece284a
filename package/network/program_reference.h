// A program run by the reference of each workload: what a package of it must compute.
#pragma once

#include <cstddef>
#include <vector>

#include "network/program.h"
#include "workload/result.h"

namespace kiln::network {

using Bytes = std::vector<std::byte>;

// Outputs in the order of the program's; each was filled with NaN before.
Result<std::vector<Bytes>> run_program(const Program &program, const std::vector<Bytes> &inputs);

// Whether that is so to the bit: no result depends on the order of sums of floats, or on an approximation.
bool is_exact(const Program &program);

}  // namespace kiln::network
