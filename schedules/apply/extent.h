// Halide counts with 32 bits, sizes and knobs with 64: what reaches a schedule was checked to fit.
#pragma once

#include <cstdint>

namespace kiln {

inline int extent(int64_t size) { return static_cast<int>(size); }

}  // namespace kiln
