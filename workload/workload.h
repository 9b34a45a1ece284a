// A workload says what to compute: operation, shapes, dtypes, layouts, strides, padding, dilations, groups, epilogue.
//
// It is a plain value with one canonical text, its key, which every other part uses as its name: the database's
// rows, the generator's argument, the package's table. The key leaves out every field that has its default value, so
// a field added later leaves all existing keys as they are; its grammar is frozen by tests/workload/workload_test.cpp.
//
//   key     := op *( "/" field ":" value )           fields in the order of the table in workload_fields.cpp
//   example := conv2d/input:1x56x56x64/kernel:3x3x64x64/padding:1,1x1,1/epilogue:bias,relu
//
// Shapes are logical, whatever the layout in memory: `input` is N, spatial..., C and `kernel` is spatial..., Ci of one
// group, Co. The semantics of a convolution are XLA's ConvGeneralDilated (no kernel flip):
//   y[n, p, o] = sum over (r, i) of k[r, i, o] * xe[n, p * stride + r * rhs_dilation, i + group(o) * Ci]
// where xe is x with lhs_dilation - 1 zeros between neighbours, then padded by (lo, hi) zeros, negative values crop.
// The back-prop operations are its gradients and state the forward shapes.
//
// Data movement, of every dtype, bit for bit; what a tensor has beyond its extents (ragged blocks) becomes zero:
//   space_to_depth    `block` pixels a dimension become channels (b_h * block_w + b_w) * C + c of one pixel, C the
//                     channels of the input. Where blocks do not divide the image, zeros fill it up at its end.
//   depth_to_space    the other way; the product of `block` divides the channels of the input
//   layout_transform  from_layout -> to_layout (workload/tensor_layout.h) of activations, `input`, or weights, `kernel`
//
// The Winograd transforms are the three linear maps of the convolution F(tile, window) with matrices A^T, G, B^T
// (catalog/winograd_matrices.h), Y = A^T [ (G K G^T) . (B^T D B) ] A, each on its own; `points` chooses the
// matrices:
//   winograd_input_transform    input N, H, W, C -> B^T D B of every tile of outputs. `padding` as in a convolution;
//                               what the last tiles read beyond the input is zero too.
//   winograd_filter_transform   kernel window, Ci, Co -> G K G^T
//   winograd_output_transform   input N, tiles down, tiles across, C, each of tile + window - 1 values a dimension ->
//                               A^T M A, N, H, W, C; `output` is the H, W that is written, all of the tiles by default
// A transformed tensor is stored as the other dimensions alone would be (N, tiles down, tiles across, C in its layout,
// or Ci, Co), with the two dimensions of a tile inserted so that they are at the positions `tile_dimensions`, counted
// from the outermost. Without `batch` no tensor has a dimension N, which must be 1.
//
// A convolution of i8 or u8 is quantized: numbers stand for (stored - zero point) * scale, sums are exact in i32, and the last
// step of its epilogue makes i8 or u8 of them (workload/quantization/quantization.h). Padding and holes stand for 0: they are
// the input's zero point.
//
// A nest is any other operator of a network: element-wise ones, pools, reductions (workload/nest/nest.h). Its tensors are dense
// and their dtype is `dtype`, those of tables i32, unless `operand_dtypes` says the dtype of each. Functions and sums of floats
// are in f32, those of integers in their type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/epilogue/step.h"
#include "workload/nest/nest.h"
#include "workload/result.h"

namespace kiln {

enum class Operation {
    conv,
    conv_backprop_input,
    conv_backprop_kernel,
    space_to_depth,
    depth_to_space,
    layout_transform,
    winograd_input_transform,
    winograd_filter_transform,
    winograd_output_transform,
    nest,
};

enum class DType { f32, f16, bf16, i8, i32, u8 };

// Activations: channels last (NHWC), channels first (NCHW) or blocks of `block` channels (NCHW<b>c). The names stand
// for every spatial rank.
struct ActivationLayout {
    enum class Kind { nhwc, nchw, nchwc } kind = Kind::nhwc;
    int block = 0;  // channels a block, only for nchwc
    bool operator==(const ActivationLayout &) const = default;
};

enum class KernelLayout { hwio, hwoi };

struct Padding {
    int64_t lo = 0, hi = 0;
    bool operator==(const Padding &) const = default;
};

enum class SpecialValues {
    finite,  // operands are finite; taps in the padding may be skipped or multiplied
    exact,   // NaN and Inf propagate as in the definition; whether those of the kernel meet the zeros of padding and
             // holes is left open, as XLA leaves it
};

struct Workload {
    Operation op = Operation::conv;
    int spatial_rank = 2;
    DType dtype = DType::f32;                                  // of the operands
    DType output_dtype = DType::f32;                           // sums and bias are f32 (else i32) and converted last
    std::vector<int64_t> input;                                // N, spatial..., C
    std::vector<int64_t> kernel;                               // spatial..., Ci of one group, Co
    std::vector<int64_t> strides, lhs_dilation, rhs_dilation;  // one entry a spatial dimension
    std::vector<Padding> padding;
    int64_t feature_group_count = 1, batch_group_count = 1;
    ActivationLayout input_layout, output_layout;
    KernelLayout kernel_layout = KernelLayout::hwio;
    std::vector<EpilogueStep> epilogue;
    std::vector<EpilogueStep> prologue;  // of each element of the input that is stored; padding and holes stay 0
    std::vector<int64_t> depthwise;  // window of a convolution in front (workload/separable/separable.h); empty: none
    SpecialValues special_values = SpecialValues::finite;
    // For quantized convolutions. Zero points themselves are operands, so that one kernel serves any.
    DType kernel_dtype = DType::i8;      // of the weights
    bool kernel_zero_point = false;      // whether weights have one for each output channel; else it is 0
    std::vector<int64_t> block;          // space_to_depth, depth_to_space: one entry a spatial dimension
    std::string from_layout, to_layout;  // layout_transform
    // Winograd transforms, vertical and horizontal. The filter's window is that of the kernel.
    std::vector<int64_t> window, tile;
    int64_t points = 0;                    // which interpolation points: a choice of winograd_points()
    std::vector<int64_t> tile_dimensions;  // two positions; outermost by default
    bool batch = true;
    std::vector<int64_t> output;  // output transform: empty for the whole tiles
    // Nests (workload/nest/nest.h).
    std::vector<int64_t> loops, over;
    std::vector<std::vector<int64_t>> operands;  // shapes
    std::vector<DType>
        operand_dtypes;  // where numbers have several dtypes: of each operand; `dtype` is that of the first numbers
    std::string reduction, reads, term, finish;

    bool operator==(const Workload &) const = default;
};

// A convolution workload of the given shapes with every other field at its default. The number of spatial dimensions
// is that of the shapes.
Workload convolution(std::vector<int64_t> input, std::vector<int64_t> kernel);

bool is_convolution(Operation op);  // conv and its two gradients
bool is_integer(DType dtype);
bool is_quantized(const Workload &w);  // a forward convolution of integers
bool is_winograd_transform(Operation op);
bool is_nest(Operation op);
bool is_data_movement(Operation op);         // space_to_depth, depth_to_space, layout_transform
bool transforms_weights(const Workload &w);  // layout_transform of a kernel
// Whether a field of the key, by its name there, says anything about an operation; else it must have its default.
bool has_field(Operation op, std::string_view field);
bool has_step(const std::vector<EpilogueStep> &steps, EpilogueStep::Kind kind);

// Extents of the forward output of a convolution, N, spatial..., C. A spatial extent that XLA's formula makes zero or
// negative is 0: a valid, empty tensor. Precondition: validate(w). See workload/signature.h for other operations.
std::vector<int64_t> output_shape(const Workload &w);
int64_t elements(const std::vector<int64_t> &shape);
// Extents of the window that moves over the input, one a spatial dimension: `depthwise` where there is one, else the kernel's.
std::vector<int64_t> window_of(const Workload &w);

// Floating-point operations of the direct method, 2 N Ho Wo Co Ci/g R S, taps in the padding included, and those of a
// depthwise one in front; 0 for data movement and transforms. Every GFLOP/s that kiln prints counts these.
int64_t flop_count(const Workload &w);

// Spatial dimensions of the shape that data movement states.
int rank_of_shape(const Workload &w);

// Makes lists that were left out one default entry a spatial dimension, and an `output` of whole tiles a missing one,
// so that equal workloads are equal values.
void fill_defaults(Workload *w);

// Whether the fields agree with each other: ranks, positive sizes, groups that divide, no 64-bit overflow of any
// element or flop count. The message names the field.
Status validate(const Workload &w);

std::string key(const Workload &w);
Result<Workload> parse_workload_key(std::string_view text);

// The names used in keys, JSON and SQL. The parse functions answer nothing for an unknown name.
std::string_view name(DType dtype);
std::string name(const ActivationLayout &layout);
std::string_view name(KernelLayout layout);
std::string_view name(SpecialValues value);
std::string op_name(const Workload &w);  // "conv2d_backprop_input"

std::optional<DType> parse_dtype(std::string_view text);
std::optional<ActivationLayout> parse_activation_layout(std::string_view text);
std::optional<KernelLayout> parse_kernel_layout(std::string_view text);
std::optional<SpecialValues> parse_special_values(std::string_view text);
struct OperationName {
    Operation op;
    int spatial_rank;  // 0: not part of the name, follows from the input's shape
};
std::optional<OperationName> parse_operation(std::string_view text);

// The numbers that stand for them in the C interface (runtime/kiln.h).
int32_t interface_code(Operation op);
int32_t interface_code(DType dtype);
int32_t interface_code(ActivationLayout::Kind kind);
int32_t interface_code(KernelLayout layout);
int32_t interface_code(SpecialValues value);

// The type that expressions see an element as: f16 and bf16 are converted to f32 where they are read.
scalar::Element element_in_expressions(DType dtype);

// What a nest computes. Precondition: validate(w).
Nest nest_of(const Workload &w);
// The workload of a nest, with every other field at its default; validate() says whether it can be computed.
Workload nest_workload(const Nest &nest);

// Bytes of one element.
int size_of(DType dtype);

}  // namespace kiln
