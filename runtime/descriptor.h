// Descriptors of the C interface as keys: equal workloads are equal bytes.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

// The descriptor with everything that does not count set to zero; null, or what is wrong with it.
const char *normalize(const kiln_descriptor &descriptor, kiln_descriptor *normalized);

uint64_t descriptor_hash(const kiln_descriptor &normalized);

}  // namespace kiln
