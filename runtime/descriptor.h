// Descriptors of the C interface as keys: equal workloads are equal bytes.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/kiln.h"

namespace kiln {

// Writes the descriptor with all bytes zero that do not count. Answers null, or a sentence about the field that is
// wrong. Precondition: it is as long as ours (runtime/struct_size.h).
const char *normalize(const kiln_descriptor &descriptor, kiln_descriptor *normalized);

// Where it is not: a sentence.
inline constexpr const char *descriptor_of_another_version =
    "struct_size is none that this package knows; use kiln_descriptor_init and this package's headers";

uint64_t descriptor_hash(const kiln_descriptor &normalized);

// How many numbers a step of an epilogue has. Precondition: normalize() knows it.
int epilogue_numbers(int32_t kind);

}  // namespace kiln
