// Single elements of a tensor, by their place in memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "runtime/subnormals_as_zeros.h"
#include "tuner/reference/tensor.h"

namespace kiln {

template<typename T>
void set(Tensor &tensor, int64_t index, T value) {
    std::memcpy(tensor.data.data() + index * sizeof(T), &value, sizeof(T));
}

template<typename T>
T get(const Tensor &tensor, int64_t index) {
    T value;
    std::memcpy(&value, tensor.data.data() + index * sizeof(T), sizeof(T));
    return value;
}

// A number as arithmetic of kernels reads it.
inline float as_kernels_read(float number) {
    return SubnormalsAsZeros::exists && std::fpclassify(number) == FP_SUBNORMAL ? 0 : number;
}

}  // namespace kiln
