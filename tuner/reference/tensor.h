// A dense tensor in memory order: the operands and results of checks and references, and .npy files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/workload.h"

namespace kiln {

struct Tensor {
    DType dtype = DType::f32;
    std::vector<int64_t> shape;  // as stored, outermost first; NHWC for an NHWC activation
    std::vector<std::byte> data;

    int64_t elements() const { return kiln::elements(shape); }
    bool operator==(const Tensor &) const = default;
};

// What an operation reads, by role (workload/signature.h): `first` is the input, `second` the weights. For conv: input
// and kernel; for conv_backprop_input: dy and kernel; for conv_backprop_kernel: x and dy. What an operation does not
// have, a transform's second or a filter transform's first, is empty.
struct Operands {
    Tensor first, second, bias, addend, slope, factor, input_factor, input_bias, depthwise_kernel;
    // How numbers are quantized (workload/quantization/quantization.h).
    Tensor input_zero_point, kernel_zero_point, multiplier, shift, scale, output_zero_point, result_bounds;
    Tensor addend_zero_point, addition_multiplier, addition_shift, addition_factors, addition_zero_point,
        addition_bounds;
    Tensor operand_1, operand_2, operand_3, operand_4, operand_5, operand_6, operand_7;  // of a nest
};

}  // namespace kiln
