#include "runtime/fallback/convolution_extents.h"

#include <initializer_list>

#include "runtime/descriptor.h"
#include "runtime/fallback/quantized_extents.h"
#include "runtime/quantized_values.h"

namespace kiln {
namespace {

constexpr int64_t largest_size = INT32_MAX;
constexpr int64_t too_many = int64_t(1) << 62;

bool is_size(int64_t value) { return value >= 1 && value <= largest_size; }

bool are_sizes(const int64_t (&values)[KILN_MAX_SPATIAL_RANK], int rank) {
    for (int d = 0; d < rank; d++) {
        if (!is_size(values[d])) return false;
    }
    return true;
}

bool are_paddings(const int64_t (&values)[KILN_MAX_SPATIAL_RANK], int rank) {
    for (int d = 0; d < rank; d++) {
        if (values[d] < -largest_size || values[d] > largest_size) return false;
    }
    return true;
}

const char *check_sizes(const kiln_descriptor &d) {
    const int rank = d.spatial_rank;
    if (!is_size(d.batch)) return "batch is not 1 to 2147483647";
    if (!are_sizes(d.spatial, rank)) return "spatial has an extent that is not 1 to 2147483647";
    if (!is_size(d.channels)) return "channels is not 1 to 2147483647";
    if (!are_sizes(d.kernel, rank)) return "kernel has an extent that is not 1 to 2147483647";
    if (!is_size(d.output_channels)) return "output_channels is not 1 to 2147483647";
    if (!are_sizes(d.strides, rank)) return "strides has an entry that is not 1 to 2147483647";
    if (!are_sizes(d.lhs_dilation, rank)) return "lhs_dilation has an entry that is not 1 to 2147483647";
    if (!are_sizes(d.rhs_dilation, rank)) return "rhs_dilation has an entry that is not 1 to 2147483647";
    if (!are_paddings(d.padding_lo, rank)) return "padding_lo has an entry beyond 2147483647";
    if (!are_paddings(d.padding_hi, rank)) return "padding_hi has an entry beyond 2147483647";
    return nullptr;
}

const char *check_groups(const kiln_descriptor &d) {
    const int64_t features = d.feature_group_count, batches = d.batch_group_count;
    if (!is_size(features)) return "feature_group_count is not 1 to 2147483647";
    if (!is_size(batches)) return "batch_group_count is not 1 to 2147483647";
    if (features > 1 && batches > 1) return "feature_group_count and batch_group_count are both above 1";
    if (d.channels % features != 0) return "feature_group_count does not divide channels";
    if (d.output_channels % features != 0) return "feature_group_count does not divide output_channels";
    if (d.output_channels % batches != 0) return "batch_group_count does not divide output_channels";
    if (d.batch % batches != 0) return "batch_group_count does not divide batch";
    return nullptr;
}

bool is_block(int32_t layout, int32_t block) { return layout != KILN_NCHWC || (block >= 2 && block <= 1024); }

const char *check_layouts(const kiln_descriptor &d) {
    if (!is_block(d.input_layout, d.input_layout_block)) return "input_layout_block is not 2 to 1024";
    if (!is_block(d.output_layout, d.output_layout_block)) return "output_layout_block is not 2 to 1024";
    for (const int64_t block : d.block) {
        if (block != 0) return "block has no meaning for a convolution";
    }
    if (d.from_layout[0] != 0) return "from_layout has no meaning for a convolution";
    if (d.to_layout[0] != 0) return "to_layout has no meaning for a convolution";
    return nullptr;
}

bool is_finite(float value) { return value - value == 0; }

const char *check_epilogue(const kiln_descriptor &d) {
    if (d.operation != KILN_CONV && d.epilogue_count > 0) return "epilogue_count is not 0: a gradient has no epilogue";
    if (d.prologue_count > 0) return "prologue_count is not 0: the kernel for any sizes has no prologue";
    for (int i = 0; i < d.spatial_rank; i++) {
        if (d.depthwise[i] != 0) return "depthwise is not 0: the kernel for any sizes has no convolution in front";
    }
    int biases = 0, adds = 0, prelus = 0, scales = 0;
    for (int i = 0; i < d.epilogue_count; i++) {
        const kiln_epilogue_step &step = d.epilogue[i];
        biases += step.kind == KILN_EPILOGUE_BIAS;
        adds += step.kind == KILN_EPILOGUE_ADD;
        prelus += step.kind == KILN_EPILOGUE_PRELU;
        scales += step.kind == KILN_EPILOGUE_SCALE;
        const bool is_clamp = step.kind == KILN_EPILOGUE_CLAMP;
        const bool ordered = step.lo <= step.hi;  // false for NaN
        if (is_clamp && !ordered) return "epilogue: clamp needs lo <= hi, both numbers";
        const int numbers = epilogue_numbers(step.kind);
        const bool finite = (numbers < 1 || is_finite(step.lo)) && (numbers < 2 || is_finite(step.hi));
        if (!is_clamp && !finite) return "epilogue: a step needs finite numbers";
    }
    if (biases > 1) return "epilogue has a bias more than once";
    if (adds > 1) return "epilogue has an add more than once";
    if (scales > 1) return "epilogue has a scale more than once";
    return prelus > 1 ? "epilogue has a prelu more than once" : nullptr;
}

void set_extents(const kiln_descriptor &d, ConvolutionExtents *e) {
    e->groups = d.feature_group_count * d.batch_group_count;
    e->batch = d.batch / d.batch_group_count;
    e->group_inputs = d.channels / d.feature_group_count;
    e->group_outputs = d.output_channels / e->groups;
    for (int i = 0; i < d.spatial_rank; i++) {
        const int64_t padded = (d.spatial[i] - 1) * d.lhs_dilation[i] + 1 + d.padding_lo[i] + d.padding_hi[i];
        const int64_t window = (d.kernel[i] - 1) * d.rhs_dilation[i] + 1;
        e->output[i] = padded < window ? 0 : (padded - window) / d.strides[i] + 1;
    }
}

bool multiply(int64_t factor, int64_t *product) {
    return !__builtin_mul_overflow(*product, factor, product) && *product < too_many;
}

// An extent of 0 makes a tensor empty, whatever the others are.
bool bytes_fit(const OperandShape &shape) {
    int64_t bytes = 4;
    for (int d = 0; d < shape.rank; d++) {
        if (shape.shape[d] == 0) return true;
    }
    for (int d = 0; d < shape.rank; d++) {
        if (!multiply(shape.shape[d], &bytes)) return false;
    }
    return true;
}

OperandShape activation_shape(int64_t batch, const int64_t *spatial, int rank, int64_t channels) {
    OperandShape shape = {KILN_F32, rank + 2, {batch}};
    for (int d = 0; d < rank; d++) shape.shape[1 + d] = spatial[d];
    shape.shape[rank + 1] = channels;
    return shape;
}

// From channels last to the layout.
void store(int32_t layout, int32_t block, OperandShape *shape) {
    const int last = shape->rank - 1;
    const int64_t channels = shape->shape[last];
    if (layout == KILN_NHWC) return;
    for (int d = last; d > 1; d--) shape->shape[d] = shape->shape[d - 1];
    shape->shape[1] = channels;
    if (layout == KILN_NCHW) return;
    shape->shape[1] = (channels + block - 1) / block;
    shape->shape[shape->rank++] = block;
}

// Stored shapes of the three tensors of the forward convolution.
struct ForwardShapes {
    OperandShape input, weights, output;
};

ForwardShapes forward_shapes(const kiln_descriptor &d, const ConvolutionExtents &e) {
    const int rank = d.spatial_rank;
    ForwardShapes s = {activation_shape(d.batch, d.spatial, rank, d.channels),
                       {KILN_F32, rank + 2, {}},
                       activation_shape(e.batch, e.output, rank, d.output_channels)};
    for (int i = 0; i < rank; i++) s.weights.shape[i] = d.kernel[i];
    const bool inputs_last = d.kernel_layout == KILN_HWOI;
    s.weights.shape[rank + inputs_last] = e.group_inputs;
    s.weights.shape[rank + !inputs_last] = d.output_channels;
    store(d.input_layout, d.input_layout_block, &s.input);
    store(d.output_layout, d.output_layout_block, &s.output);
    return s;
}

// Each term is a multiplication and an addition.
bool operations_fit(const OperandShape &weights, const OperandShape &output) {
    int64_t operations = 2;
    for (int d = 0; d < output.rank; d++) {
        if (output.shape[d] == 0) return true;
    }
    for (const OperandShape *shape : {&weights, &output}) {
        for (int d = 0; d < shape->rank; d++) {
            if (!multiply(shape->shape[d], &operations)) return false;
        }
    }
    return true;
}

}  // namespace

const char *convolution_extents(const kiln_descriptor &d, ConvolutionExtents *extents) {
    for (const auto check : {check_sizes, check_groups, check_layouts, check_quantization, check_epilogue}) {
        if (const char *problem = check(d)) return problem;
    }
    set_extents(d, extents);
    const ForwardShapes shapes = forward_shapes(d, *extents);
    if (!bytes_fit(shapes.input)) return "batch, spatial and channels: a tensor of this shape is too large";
    if (!bytes_fit(shapes.weights)) return "kernel and channels: a tensor of this shape is too large";
    if (!bytes_fit(shapes.output))
        return "output (from spatial, padding and dilations): a tensor of this shape is too large";
    if (!operations_fit(shapes.weights, shapes.output)) return "spatial and kernel: the operation count is too large";
    if (is_quantized(d) && !sums_fit(d)) return "kernel and channels: sums of so many products leave i32";
    return nullptr;
}

void convolution_operands(const kiln_descriptor &d, const ConvolutionExtents &e,
                          OperandShape (&operands)[tensor_operands]) {
    ForwardShapes s = forward_shapes(d, e);
    for (OperandShape &operand : operands) operand = {};
    s.input.dtype = s.weights.dtype = s.output.dtype = d.dtype;
    if (is_quantized(d)) s.weights.dtype = d.kernel_dtype;
    OperandShape *result = d.operation == KILN_CONV                  ? &s.output
                           : d.operation == KILN_CONV_BACKPROP_INPUT ? &s.input
                                                                     : &s.weights;
    result->dtype = d.output_dtype;
    operands[KILN_INPUT] = d.operation == KILN_CONV_BACKPROP_INPUT ? s.output : s.input;
    operands[KILN_WEIGHTS] = d.operation == KILN_CONV_BACKPROP_KERNEL ? s.output : s.weights;
    operands[KILN_OUTPUT] = *result;
    for (int i = 0; i < d.epilogue_count; i++) {
        if (d.epilogue[i].kind == KILN_EPILOGUE_BIAS)
            operands[KILN_BIAS] = {is_quantized(d) ? KILN_I32 : KILN_F32, 1, {d.output_channels}};
        if (d.epilogue[i].kind == KILN_EPILOGUE_ADD) operands[KILN_ADDEND] = s.output;
        if (d.epilogue[i].kind == KILN_EPILOGUE_PRELU) operands[KILN_SLOPE] = {KILN_F32, 1, {d.output_channels}};
        if (d.epilogue[i].kind == KILN_EPILOGUE_SCALE) operands[KILN_FACTOR] = {KILN_F32, 1, {d.output_channels}};
    }
    if (is_quantized(d)) quantization_operands(d, operands);
}

}  // namespace kiln
