// The operands and the result of an operation (workload/signature.h) as tensors in memory: random contents, and the way
// between the canonical order of elements and the stored one.
//
// Channels in blocks (NCHW<b>c) are stored with the last block filled up; what fills it is zero.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/reference/tensor.h"
#include "workload/signature.h"
#include "workload/workload.h"

namespace kiln {

// The result's shape in its layout.
std::vector<int64_t> stored_result_shape(const Workload &workload);

// The operands that a kernel takes, in the order of runtime/kernel_abi.h, each with its name in the definition: input,
// kernel, bias, addend, slope; dy, kernel; x, dy. Data is left out.
struct NamedOperand {
    std::string_view name;
    Role role;
    Tensor Operands::*place;
    Tensor tensor;
    int64_t index_count = 0;  // see TensorForm
};
std::vector<NamedOperand> operand_list(const Workload &workload);
Tensor Operands::*place_of(Role role);                   // of an operand
std::string_view result_name(const Workload &workload);  // output, dx, dk

// Random operands, the same for the same seed. `ordinary`: uniform in [-1, 1]; `wide`: magnitudes log-uniform over
// 2^-20..2^20 (2^-7..2^7 for f16, whose numbers end at 2^16). Of quantized convolutions: see quantized/quantized_operands.h.
enum class Data { ordinary, wide };
Operands make_operands(const Workload &workload, Data data, uint64_t seed);

// Elements as doubles in canonical order: N, spatial, C of an activation; spatial, Ci, Co of a kernel; see TensorForm.
std::vector<double> canonical(const Tensor &stored, const TensorForm &form);
std::vector<double> canonical_activation(const Tensor &stored, const std::vector<int64_t> &logical,
                                         const ActivationLayout &layout);
std::vector<double> canonical_kernel(const Tensor &stored, const std::vector<int64_t> &logical, KernelLayout layout);

// The other way, into the layout of the result.
std::vector<double> store_result(const Workload &workload, const std::vector<double> &canonical);

// "output[n=0, h=3, w=5, c=17]": where element `index` of the stored result is.
std::string result_position(const Workload &workload, int64_t index);

}  // namespace kiln
