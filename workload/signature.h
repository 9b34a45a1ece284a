// The signature of a workload: the tensors that its kernels read and the one that they write, in logical extents and as
// stored. It is the one place that knows what an operation's operands and result are; generators, random operands, the
// reference, positions in messages and the tables of packages all follow from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace kiln {

// Which argument of a call a tensor is; in the order in which kernels take them.
// `operand_<n>` is that operand of a nest, whose first is the input. Those from `input_zero_point` to `addition_bounds` say how
// numbers are quantized (workload/quantization/quantization.h).
enum class Role {
    input,
    weights,
    bias,
    addend,
    slope,
    factor,
    input_factor,
    input_bias,
    depthwise_kernel,
    input_zero_point,
    kernel_zero_point,
    multiplier,
    shift,
    scale,
    output_zero_point,
    result_bounds,
    addend_zero_point,
    addition_multiplier,
    addition_shift,
    addition_factors,
    addition_zero_point,
    addition_bounds,
    operand_1,
    operand_2,
    operand_3,
    operand_4,
    operand_5,
    operand_6,
    operand_7,
    output
};

// One dimension in memory. An element's coordinate on a logical axis is the sum of index * step over the dimensions of
// that axis: two where channels are in blocks, else one. Places beyond the axis's extent (the last block's) hold zero.
struct StoredDimension {
    std::string name;  // for messages: "h", "c_block"
    int64_t extent = 1;
    int axis = 0;
    int64_t step = 1;
};

struct TensorForm {
    Role role = Role::input;
    std::string_view name;  // in the definition: input, kernel, dy; of a nest x0, x1, ...
    DType dtype = DType::f32;
    std::vector<int64_t> logical;         // canonical order: N, spatial, C; spatial, Ci, Co
    std::vector<StoredDimension> stored;  // dense, outermost first; an axis of extent 1 may be missing
    int64_t index_count = 0;              // of a nest's table: its elements are indices below this; 0: they are numbers

    std::vector<int64_t> shape() const;  // extents as stored
    int64_t bytes() const;               // as stored
};

struct Signature {
    std::vector<TensorForm> operands;  // ascending by role; none that the workload does not have
    TensorForm result;
};

// Canonical order of a tensor that a Winograd transform made: the two tile dimensions, then N, tiles down, tiles
// across, C, or Ci, Co. Precondition: validate(w).
Signature signature(const Workload &w);

// A valid workload for which there is nothing to compute, and so no kernel. Precondition: validate(w).
bool has_empty_result(const Workload &w);
inline constexpr std::string_view empty_result_text = "the output is empty: there is nothing to compute";

// Which operand a step of an epilogue has. Ascending by role; steps without an operand have no row.
struct StepOperand {
    EpilogueStep::Kind step;
    Role role;
    std::string_view name;
};
std::span<const StepOperand> step_operands();
bool is_like_result(EpilogueStep::Kind step);  // whether its operand has a value for each element of the result
const StepOperand *step_operand(EpilogueStep::Kind step);  // null where it has none
std::span<const StepOperand> prologue_operands();          // the same of a prologue's steps

std::string spatial_name(size_t d, size_t rank);  // of dimension `d`: of rank 3 "d", "h", "w", of rank 2 "h", "w"

// Dimensions of a tensor whose logical extents are N, spatial, C or spatial, Ci, Co.
std::vector<StoredDimension> activation_dimensions(const std::vector<int64_t> &logical, const ActivationLayout &layout);
std::vector<StoredDimension> kernel_dimensions(const std::vector<int64_t> &logical, KernelLayout layout);

}  // namespace kiln
