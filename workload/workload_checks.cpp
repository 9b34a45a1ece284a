#include "workload/workload_checks.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <utility>

#include "workload/quantization/quantization.h"
#include "workload/signature.h"
#include "workload/tensor_layout.h"

namespace kiln {
namespace {

// Multiplies positive numbers. Answers false once the product passes 2^62.
bool multiply(int64_t factor, int64_t *product) {
    return !__builtin_mul_overflow(*product, factor, product) && *product < (int64_t(1) << 62);
}

Status check_padding(const Workload &w) {
    const size_t rank = w.spatial_rank;
    if (w.padding.size() != rank) {
        return bad_input("padding has " + std::to_string(w.padding.size()) + " entries; needs " + std::to_string(rank));
    }
    constexpr int64_t limit = std::numeric_limits<int32_t>::max();
    for (const Padding &p : w.padding) {
        for (int64_t v : {p.lo, p.hi}) {
            if (v < -limit || v > limit) return bad_input("padding has an entry of " + std::to_string(v));
        }
    }
    return {};
}

// The fields that say how a transformed tensor is stored. Precondition: the sizes are checked.
Status check_transformed(const Workload &w) {
    const size_t others = w.op == Operation::winograd_filter_transform ? 2 : w.batch ? 4 : 3;
    if (Status s = check_sizes("tile_dimensions", w.tile_dimensions, 2, 0); !s) return s;
    for (int64_t position : w.tile_dimensions) {
        if (position >= static_cast<int64_t>(others + 2)) {
            return bad_input("tile_dimensions has a position of " + std::to_string(position) +
                             ", but the transformed tensor has " + std::to_string(others + 2) + " dimensions");
        }
    }
    if (w.tile_dimensions[0] == w.tile_dimensions[1]) {
        return bad_input("tile_dimensions has the same position twice; needs two different ones");
    }
    const bool is_input = w.op == Operation::winograd_input_transform;
    if ((is_input ? w.output_layout : w.input_layout).kind == ActivationLayout::Kind::nchwc) {
        return bad_input(std::string(is_input ? "output_layout" : "input_layout") +
                         ": a transformed tensor has no blocks of channels; needs NHWC or NCHW");
    }
    return {};
}

Status check_written_extents(const Workload &w) {
    if (w.output.empty()) return {};
    if (Status s = check_sizes("output", w.output, 2, 1); !s) return s;
    for (int d = 0; d < 2; d++) {
        const int64_t last = w.input[d + 1] * w.tile[d], first = last - w.tile[d] + 1;
        if (w.output[d] < first || w.output[d] > last) {
            return bad_input("output has an extent of " + std::to_string(w.output[d]) + ", but " +
                             std::to_string(w.input[d + 1]) + " tiles (input) of " + std::to_string(w.tile[d]) +
                             " are for " + std::to_string(first) + " to " + std::to_string(last));
        }
    }
    return {};
}

Status check_layouts(const Workload &w) {
    const bool weights = transforms_weights(w);
    if (w.input.empty() && w.kernel.empty()) {
        return bad_input("layout_transform has neither an input nor a kernel; needs one of them");
    }
    if (!w.input.empty() && !w.kernel.empty()) {
        return bad_input("layout_transform has both an input and a kernel; needs one of them");
    }
    if (weights) {
        if (Status s = check_sizes("kernel", w.kernel, w.spatial_rank + 2, 1); !s) return s;
    }
    for (const auto &[field, text] : {std::pair{"from_layout", &w.from_layout}, {"to_layout", &w.to_layout}}) {
        const auto layout = parse_tensor_layout(*text);
        if (!layout) {
            return bad_input(std::string(field) + ": `" + *text + "` is no layout; needs the axes in order, " +
                             (weights ? "O, I and HW, then blocks: OIHW, HWIO, OIHW16i16o"
                                      : "N, C and HW, then blocks: NHWC, CHWN, NCHW16c"));
        }
        if (layout->weights != weights) {
            return bad_input(std::string(field) + ": " + *text + " is a layout of " +
                             (layout->weights ? "weights, but the workload has an input"
                                              : "activations, but the workload has a kernel"));
        }
    }
    return {};
}

Status check_blocks(const Workload &w) {
    if (Status s = check_sizes("block", w.block, w.spatial_rank, 1); !s) return s;
    int64_t pixels = 1;
    for (int64_t b : w.block) {
        if (!multiply(b, &pixels) || !multiply(w.input.back(), &pixels)) {
            return bad_input("block: the result is too large");
        }
        pixels /= w.input.back();
    }
    if (w.op == Operation::space_to_depth || w.input.back() % pixels == 0) return {};
    return bad_input("block has " + std::to_string(pixels) + " pixels, which do not divide the " +
                     std::to_string(w.input.back()) + " channels of input");
}

// Of an epilogue or a prologue.
Status check_steps(const std::string &field, const std::vector<EpilogueStep> &steps) {
    for (const EpilogueStep &step : steps) {
        if (Status s = check_numbers(step); !s) return bad_input(field + ": " + s.error().message);
    }
    for (const EpilogueForm &form : epilogue_forms()) {
        if (form.operand == EpilogueForm::Operand::none) continue;
        if (std::ranges::count(steps, form.kind, &EpilogueStep::kind) > 1) {
            return bad_input(field + " has `" + std::string(form.name) + "` more than once");
        }
    }
    return {};
}

Status check_prologue(const Workload &w) {
    if (w.prologue.empty()) return {};
    if (is_integer(w.dtype)) {
        return bad_input("prologue has no meaning where dtype is " + std::string(name(w.dtype)) +
                         "; needs f32, f16 or bf16");
    }
    for (const EpilogueStep &step : w.prologue) {
        if (is_prologue_step(step.kind)) continue;
        return bad_input("prologue has `" + std::string(epilogue_form(step.kind).name) +
                         "`; needs scale, bias or an activation without an operand");
    }
    return check_steps("prologue", w.prologue);
}

// What a depthwise convolution in front leaves open for the one behind it.
Status check_separable(const Workload &w) {
    if (w.depthwise.empty()) return {};
    if (Status s = check_sizes("depthwise", w.depthwise, w.spatial_rank, 1); !s) return s;
    if (is_integer(w.dtype)) {
        return bad_input("depthwise has no meaning where dtype is " + std::string(name(w.dtype)) +
                         "; needs f32, f16 or bf16");
    }
    for (int d = 0; d < w.spatial_rank; d++) {
        if (w.kernel[d] != 1) {
            return bad_input("kernel has a window of " + std::to_string(w.kernel[d]) +
                             ", but behind `depthwise` it needs 1 in each spatial dimension");
        }
        if (w.lhs_dilation[d] != 1)
            return bad_input("lhs_dilation is " + std::to_string(w.lhs_dilation[d]) + "; with `depthwise` it needs 1");
    }
    if (w.feature_group_count != 1 || w.batch_group_count != 1)
        return bad_input("feature_group_count or batch_group_count is above 1; with `depthwise` both need 1");
    return {};
}

// 2 N Ho Wo Ci (Co + the taps of the depthwise window). Precondition: the output is no too large tensor.
Status check_separable_flops(const Workload &w, const std::vector<int64_t> &output) {
    int64_t taps = 1, flops = 2 * elements(output) / output.back();
    bool fits = true;
    for (const int64_t extent : w.depthwise) fits = fits && multiply(extent, &taps);
    fits = fits && !__builtin_add_overflow(taps, output.back(), &taps);
    if (fits && multiply(w.input.back(), &flops) && multiply(taps, &flops)) return {};
    return bad_input("input, depthwise and kernel: the operation count is too large");
}

}  // namespace

Status check_sizes(std::string_view field, const std::vector<int64_t> &values, size_t count, int64_t smallest) {
    if (values.size() != count) {
        return bad_input(std::string(field) + " has " + std::to_string(values.size()) + " entries; needs " +
                         std::to_string(count));
    }
    for (int64_t v : values) {
        if (v < smallest || v > std::numeric_limits<int32_t>::max()) {
            return bad_input(std::string(field) + " has an entry of " + std::to_string(v) + "; needs " +
                             std::to_string(smallest) + " to 2147483647");
        }
    }
    return {};
}

Status check_tensor_size(std::string_view field, const std::vector<int64_t> &shape) {
    int64_t bytes = 4;
    for (int64_t extent : shape) {
        if (!multiply(extent, &bytes)) return bad_input(std::string(field) + ": a tensor of this shape is too large");
    }
    return {};
}

Status check_convolution(const Workload &w) {
    const size_t rank = w.spatial_rank;
    if (Status s = check_sizes("kernel", w.kernel, rank + 2, 1); !s) return s;
    if (Status s = check_sizes("strides", w.strides, rank, 1); !s) return s;
    if (Status s = check_sizes("lhs_dilation", w.lhs_dilation, rank, 1); !s) return s;
    if (Status s = check_sizes("rhs_dilation", w.rhs_dilation, rank, 1); !s) return s;
    if (Status s = check_tensor_size("kernel", w.kernel); !s) return s;
    if (Status s = check_padding(w); !s) return s;
    const int64_t groups = w.feature_group_count, batch_groups = w.batch_group_count;
    if (groups < 1) return bad_input("feature_group_count is " + std::to_string(groups) + "; needs at least 1");
    if (batch_groups < 1) {
        return bad_input("batch_group_count is " + std::to_string(batch_groups) + "; needs at least 1");
    }
    if (groups > 1 && batch_groups > 1) {
        return bad_input("feature_group_count and batch_group_count are both above 1; one of them must be 1");
    }
    const int64_t channels = w.input.back(), group_channels = w.kernel[rank], outputs = w.kernel[rank + 1];
    if (channels % groups != 0 || channels / groups != group_channels) {
        return bad_input("kernel has " + std::to_string(group_channels) + " input channels a group, but input has " +
                         std::to_string(channels) + " channels in " + std::to_string(groups) +
                         " groups (feature_group_count)");
    }
    if (outputs % (groups * batch_groups) != 0) {
        return bad_input("kernel has " + std::to_string(outputs) + " output channels, which " +
                         std::to_string(groups * batch_groups) + " groups do not divide");
    }
    if (w.input[0] % batch_groups != 0) {
        return bad_input("input has a batch of " + std::to_string(w.input[0]) + ", which batch_group_count " +
                         std::to_string(batch_groups) + " does not divide");
    }
    if (Status s = check_quantization(w); !s) return s;
    if (Status s = check_steps("epilogue", w.epilogue); !s) return s;
    if (Status s = check_prologue(w); !s) return s;
    if (Status s = check_separable(w); !s) return s;
    const std::vector<int64_t> output = output_shape(w);
    if (Status s = check_tensor_size("output (from input, padding and dilations)", output); !s) return s;
    if (!w.depthwise.empty()) return check_separable_flops(w, output);
    int64_t flops = 2;
    for (const auto *shape : {&w.kernel, &output}) {
        for (int64_t extent : *shape) {
            if (!multiply(extent, &flops)) return bad_input("input and kernel: the operation count is too large");
        }
    }
    return {};
}

Status check_data_movement(const Workload &w) {
    if (w.output_dtype != w.dtype) {
        return bad_input("output_dtype is " + std::string(name(w.output_dtype)) +
                         ", but data is moved as it is; leave it out");
    }
    if (Status s = w.op == Operation::layout_transform ? check_layouts(w) : check_blocks(w); !s) return s;
    const Signature tensors = signature(w);
    if (Status s = check_tensor_size(tensors.operands[0].name, tensors.operands[0].shape()); !s) return s;
    return check_tensor_size(tensors.result.name, tensors.result.shape());
}

Status check_winograd_transform(const Workload &w) {
    if (Status s = check_sizes("tile", w.tile, 2, 1); !s) return s;
    if (w.op == Operation::winograd_filter_transform) {
        if (Status s = check_sizes("kernel", w.kernel, 4, 1); !s) return s;
    } else if (Status s = check_sizes("window", w.window, 2, 1); !s) {
        return s;
    }
    if (Status s = check_padding(w); !s) return s;
    for (const auto &[field, dtype] : {std::pair{"dtype", w.dtype}, {"output_dtype", w.output_dtype}}) {
        if (is_integer(dtype))
            return bad_input(std::string(field) + ": a Winograd transform has no integers; needs f32, f16 or bf16");
    }
    if (w.points < 0 || w.points > std::numeric_limits<int32_t>::max()) {
        return bad_input("points is " + std::to_string(w.points) + "; needs 0 or more");
    }
    if (!w.batch && w.input[0] != 1) {
        return bad_input("batch is false, but input has a batch of " + std::to_string(w.input[0]) + "; needs 1");
    }
    if (Status s = check_transformed(w); !s) return s;
    if (w.op == Operation::winograd_output_transform) {
        if (Status s = check_written_extents(w); !s) return s;
    }
    const Signature tensors = signature(w);
    if (Status s = check_tensor_size(tensors.operands[0].name, tensors.operands[0].shape()); !s) return s;
    return check_tensor_size(tensors.result.name, tensors.result.shape());
}

}  // namespace kiln
