// Reads and writes evenly spaced elements of a tensor of f32, f16 or bf16, and reads i8 and u8. The fallback computes in f32;
// it converts here.
//
// Conversion from f32 is to nearest even; NaN stays NaN (quiet); a number that f16 cannot hold
// becomes infinite.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <cstdint>

namespace kiln {

struct ElementRun {
    int32_t dtype;
    int64_t first, step, count;  // in elements of the tensor
    int32_t zero_point = 0;      // of i8 and u8: taken away from what is read
};

// to[i * to_step] = tensor[first + i * step]
void load_elements(const void *tensor, const ElementRun &run, float *to, int64_t to_step);

// tensor[first + i * step] = from[i]
void store_elements(const float *from, const ElementRun &run, void *tensor);

}  // namespace kiln
