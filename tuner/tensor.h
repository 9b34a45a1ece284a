// A dense tensor in memory order: the operands and results of checks and references, and .npy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/workload.h"

namespace kiln {

struct Tensor {
    DType dtype = DType::f32;
    std::vector<int64_t> shape;  // as stored, outermost first; NHWC for an NHWC activation
    std::vector<std::byte> data;

    int64_t elements() const { return kiln::elements(shape); }
    bool operator==(const Tensor &) const = default;
};

// What a convolution reads, in the order of runtime/kernel_abi.h. For conv: input and kernel; for conv_backprop_input:
// dy and kernel; for conv_backprop_kernel: x and dy. `bias` and `addend` are empty unless the epilogue has them.
struct Operands {
    Tensor first, second, bias, addend;
};

}  // namespace kiln
