// What kernels of every operation ask of a tensor: that they can index it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "workload/result.h"
#include "workload/signature.h"

namespace kiln {

// Kernels index with 32 bits. There is room for vectors that reach behind an end.
inline constexpr int64_t most_elements = std::numeric_limits<int32_t>::max() - 4096;

inline Status fits_32_bits(const TensorForm &form) {
    if (elements(form.shape()) <= most_elements) return {};
    return unsupported(std::string(form.name) +
                       " has more than 2^31 elements in memory, which 32-bit indices cannot reach");
}

}  // namespace kiln
