// The plan of a network: a hash of all that its library and its weights must agree on.
#pragma once

#include <string>
#include <vector>

#include "package/network/network_variants.h"
#include "package/packaged_network.h"

namespace kiln {

// Ports, memory, steps, the code of every kernel, and the bytes of every section. 32 hex digits. The network needs no plan yet.
std::string network_plan(const PackagedNetwork &network, const std::vector<VariantKernels> &kernels);

}  // namespace kiln
