// Kernels that are made at run time, for convolutions in f32, f16, bf16 and quantized and for gradients that no kernel was
// built for.
//
// A package that was built with --fallback has one general kernel, which reads sizes, layouts and the epilogue from the
// descriptor of its row instead of having them compiled in. make_fallback() (runtime/make_package.h) makes such rows.
// It refuses descriptors of no valid convolution (KILN_BAD_DESCRIPTOR), and data movement and transforms
// (KILN_NOT_FOUND). The caller's memory stays as it was then.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kernel_table.h"

namespace kiln {

// The function of all rows that make_fallback() makes. `args` are those of an ArgvFunction. Each thread of the parallel
// loop needs fallback_scratch_bytes() in its arena, header included.
int compute_fallback(const kiln_descriptor &normalized, void **args);
size_t fallback_scratch_bytes();

}  // namespace kiln
