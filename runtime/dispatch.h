// The functions of a kiln_package that look things up: they find the kernel that computes a workload on this CPU.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

kiln_status find_kernel(const kiln_package *, const kiln_descriptor *, uint64_t features, const kiln_kernel **);
kiln_status find_kernel_by_key(const kiln_package *, const char *key, uint64_t features, const kiln_kernel **);
size_t kernel_count(const kiln_package *);
const kiln_kernel *kernel_at(const kiln_package *, size_t index);
const kiln_kernel_info *kernel_info(const kiln_kernel *);

// kiln_package::cpu_features, read once. Only the first asks the system for tile registers (runtime/cpu_features.h): it is for
// packages with kernels that need them.
uint64_t enabled_cpu_features();
uint64_t enabled_cpu_features_without_tiles();

}  // namespace kiln
