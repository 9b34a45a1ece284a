// Calls of a kernel: the functions of a kiln_package that run something.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

size_t kernel_workspace_bytes(const kiln_kernel *, int threads);
kiln_status pack_weights(const kiln_kernel *, const kiln_arguments *);
kiln_status prepare_input(const kiln_kernel *, const kiln_arguments *);
kiln_status run_kernel(const kiln_kernel *, const kiln_arguments *);
kiln_status create_pool(int threads, kiln_parallel *);
void destroy_pool(kiln_parallel *);

}  // namespace kiln
