// Structures that callers fill, as long as they were in the kiln.h that the caller was compiled with.
//
// They grow at their end only, and zero is the default of what comes later. So one of an older kiln.h is the same with
// zeros behind it, and one that is longer than ours has fields that this package does not know.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stddef.h>
#include <string.h>

#include "runtime/kiln.h"

namespace kiln {

// Bytes up to the last field of kiln 0.1.0. These never change.
inline constexpr size_t first_descriptor_bytes =
    offsetof(kiln_descriptor, depthwise) + sizeof(kiln_descriptor::depthwise);
inline constexpr size_t first_arguments_bytes =
    offsetof(kiln_arguments, depthwise_kernel) + sizeof(kiln_arguments::depthwise_kernel);
inline constexpr size_t first_network_arguments_bytes =
    offsetof(kiln_network_arguments, observer) + sizeof(kiln_network_arguments::observer);
static_assert(sizeof(void *) != 8 ||
              (first_descriptor_bytes == 624 && first_arguments_bytes == 3904 && first_network_arguments_bytes == 56));

// The structure as this package knows it: `given` itself where it is that long, else `copy`, filled. Null where the caller's
// kiln.h is of a later version, or there never was one of that size.
template<typename T>
const T *in_this_version(const T *given, size_t first_bytes, T *copy) {
    const size_t bytes = given->struct_size;
    if (bytes == sizeof(T)) return given;
    if (bytes < first_bytes || bytes > sizeof(T)) return nullptr;
    memset(copy, 0, sizeof *copy);
    memcpy(copy, given, bytes);
    copy->struct_size = sizeof *copy;
    return copy;
}

}  // namespace kiln
