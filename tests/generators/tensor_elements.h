// Single elements of a tensor, by their place in memory.
#pragma once

#include <cstdint>
#include <cstring>

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

}  // namespace kiln
