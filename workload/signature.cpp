#include "workload/signature.h"

#include <algorithm>
#include <utility>

#include "workload/quantization/quantization.h"
#include "workload/tensor_layout.h"
#include "workload/winograd_sizes.h"

namespace kiln {
namespace {

using Dimensions = std::vector<StoredDimension>;

TensorForm image(Role role, std::string_view name, const Workload &w, const std::vector<int64_t> &logical) {
    const bool is_result = role == Role::output;
    TensorForm form{role, name, is_result ? w.output_dtype : w.dtype, logical,
                    activation_dimensions(logical, is_result ? w.output_layout : w.input_layout)};
    if (!w.batch) form.stored.erase(form.stored.begin());
    return form;
}

TensorForm kernel(Role role, std::string_view name, const Workload &w) {
    const DType operand = is_quantized(w) ? w.kernel_dtype : w.dtype;
    return {role, name, role == Role::output ? w.output_dtype : operand, w.kernel,
            kernel_dimensions(w.kernel, w.kernel_layout)};
}

Signature forward(const Workload &w) {
    Signature s{{image(Role::input, "input", w, w.input), kernel(Role::weights, "kernel", w)},
                image(Role::output, "output", w, output_shape(w))};
    for (const StepOperand &operand : step_operands()) {
        if (!has_step(w.epilogue, operand.step)) continue;
        const int64_t channels = w.kernel.back();
        const DType sum = is_quantized(w) ? DType::i32 : DType::f32;
        TensorForm form{{}, {}, sum, {channels}, {{"c", channels, 0}}};
        if (epilogue_form(operand.step).operand == EpilogueForm::Operand::result) form = s.result;
        form.role = operand.role;
        form.name = operand.name;
        s.operands.push_back(std::move(form));
    }
    for (const StepOperand &operand : prologue_operands()) {
        if (!has_step(w.prologue, operand.step)) continue;
        s.operands.push_back({operand.role, operand.name, DType::f32, {w.input.back()}, {{"c", w.input.back(), 0}}});
    }
    if (!w.depthwise.empty()) {
        std::vector<int64_t> extents = w.depthwise;
        extents.insert(extents.end(), {1, w.input.back()});
        s.operands.push_back({Role::depthwise_kernel, "depthwise_kernel", w.dtype, extents,
                              kernel_dimensions(extents, w.kernel_layout)});
    }
    for (const QuantizationOperand &operand : quantization_operands(w)) {
        s.operands.push_back({operand.role, operand.name, operand.dtype, {operand.count}, {{"c", operand.count, 0}}});
    }
    return s;
}

// Forward tensors in other roles keep their layouts, the operands' dtype and the result's.
Signature gradient(const Workload &w) {
    TensorForm x = image(Role::input, "x", w, w.input), k = kernel(Role::weights, "kernel", w);
    TensorForm dy = image(Role::output, "dy", w, output_shape(w));
    dy.dtype = w.dtype;
    TensorForm *result = &x;
    if (w.op == Operation::conv_backprop_input) {
        dy.role = Role::input, x.name = "dx";
    } else {
        dy.role = Role::weights, k.name = "dk", result = &k;
    }
    result->role = Role::output;
    result->dtype = w.output_dtype;
    if (w.op == Operation::conv_backprop_input) return {{dy, k}, x};
    return {{x, dy}, k};
}

// The tensor of which `rest` is stored at one place of a tile, as a whole: the two tile dimensions come in at the
// positions that the workload asks for.
TensorForm transformed(TensorForm rest, const Workload &w) {
    const WinogradSizes s = winograd_sizes(w);
    for (StoredDimension &dimension : rest.stored) dimension.axis += 2;
    rest.logical.insert(rest.logical.begin(), s.transformed.begin(), s.transformed.end());
    std::pair<int64_t, StoredDimension> inserted[] = {{w.tile_dimensions[0], {"i", s.transformed[0], 0}},
                                                      {w.tile_dimensions[1], {"j", s.transformed[1], 1}}};
    if (inserted[0].first > inserted[1].first) std::swap(inserted[0], inserted[1]);
    for (auto &[position, dimension] : inserted) rest.stored.insert(rest.stored.begin() + position, dimension);
    return rest;
}

Signature winograd_transform(const Workload &w) {
    if (w.op == Operation::winograd_filter_transform) {
        const std::vector<int64_t> channels(w.kernel.begin() + 2, w.kernel.end());
        return {
            {kernel(Role::weights, "kernel", w)},
            transformed(
                {Role::output, "output", w.output_dtype, channels, kernel_dimensions(channels, w.kernel_layout)}, w)};
    }
    const WinogradSizes s = winograd_sizes(w);
    const int64_t n = w.input.front(), c = w.input.back();
    const std::vector<int64_t> tiles{n, s.tiles[0], s.tiles[1], c}, outputs{n, s.output[0], s.output[1], c};
    if (w.op == Operation::winograd_input_transform) {
        return {{image(Role::input, "input", w, w.input)}, transformed(image(Role::output, "output", w, tiles), w)};
    }
    return {{transformed(image(Role::input, "input", w, tiles), w)}, image(Role::output, "output", w, outputs)};
}

// Blocks of pixels to channels (b_h * block_w + b_w) * C + c, and back; an image that blocks do not divide is filled up
// with zeros.
Signature shuffle(const Workload &w) {
    std::vector<int64_t> result = w.input;
    for (size_t d = 0; d < w.block.size(); d++) {
        int64_t &extent = result[d + 1];
        if (w.op == Operation::space_to_depth) {
            extent = (extent + w.block[d] - 1) / w.block[d], result.back() *= w.block[d];
        } else {
            extent *= w.block[d], result.back() /= w.block[d];
        }
    }
    return {{image(Role::input, "input", w, w.input)}, image(Role::output, "output", w, result)};
}

Signature layout_transform(const Workload &w) {
    const bool weights = w.input.empty();
    const std::vector<int64_t> &logical = weights ? w.kernel : w.input;
    const auto form = [&](Role role, std::string_view name, const std::string &layout) {
        return TensorForm{role, name, w.dtype, logical, layout_dimensions(logical, *parse_tensor_layout(layout))};
    };
    return {{weights ? form(Role::weights, "kernel", w.from_layout) : form(Role::input, "input", w.from_layout)},
            form(Role::output, "output", w.to_layout)};
}

// Indices of a table below this are inside of all axes that they are used for.
int64_t index_count(const Nest &nest, int table) {
    int64_t count = 0;
    for (const NestRead &read : nest.reads) {
        for (size_t axis = 0; axis < read.indices.size(); axis++) {
            if (read.indices[axis].table != table) continue;
            const int64_t extent = nest.operands[read.operand][axis];
            count = count ? std::min(count, extent) : extent;
        }
    }
    return count;
}

TensorForm dense(Role role, std::string_view name, DType dtype, const std::vector<int64_t> &shape) {
    TensorForm form{role, name, dtype, shape, {}};
    for (size_t d = 0; d < shape.size(); d++)
        form.stored.push_back({"i" + std::to_string(d), shape[d], static_cast<int>(d)});
    return form;
}

Signature nest_signature(const Workload &w) {
    constexpr std::string_view names[most_nest_operands] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"};
    const Nest nest = nest_of(w);
    Signature s{{}, dense(Role::output, "output", w.output_dtype, nest.loops)};
    for (size_t i = 0; i < nest.operands.size(); i++) {
        const Role role = i == 0 ? Role::input : static_cast<Role>(static_cast<int>(Role::operand_1) + i - 1);
        const bool is_table = nest.is_table(static_cast<int>(i));
        const DType usual = is_table ? DType::i32 : w.dtype;
        s.operands.push_back(
            dense(role, names[i], w.operand_dtypes.empty() ? usual : w.operand_dtypes[i], nest.operands[i]));
        s.operands.back().index_count = is_table ? index_count(nest, static_cast<int>(i)) : 0;
    }
    return s;
}

}  // namespace

std::string spatial_name(size_t d, size_t rank) { return std::string(1, "dhw"[3 - rank + d]); }

std::vector<int64_t> TensorForm::shape() const {
    std::vector<int64_t> extents;
    for (const StoredDimension &dimension : stored) extents.push_back(dimension.extent);
    return extents;
}

int64_t TensorForm::bytes() const { return elements(shape()) * size_of(dtype); }

Signature signature(const Workload &w) {
    if (is_nest(w.op)) return nest_signature(w);
    if (is_winograd_transform(w.op)) return winograd_transform(w);
    if (w.op == Operation::layout_transform) return layout_transform(w);
    if (is_data_movement(w.op)) return shuffle(w);
    return w.op == Operation::conv ? forward(w) : gradient(w);
}

std::span<const StepOperand> step_operands() {
    using Kind = EpilogueStep::Kind;
    static constexpr StepOperand operands[] = {{Kind::bias, Role::bias, "bias"},
                                               {Kind::add, Role::addend, "addend"},
                                               {Kind::prelu, Role::slope, "slope"},
                                               {Kind::scale, Role::factor, "factor"}};
    return operands;
}

std::span<const StepOperand> prologue_operands() {
    using Kind = EpilogueStep::Kind;
    static constexpr StepOperand operands[] = {{Kind::scale, Role::input_factor, "input_factor"},
                                               {Kind::bias, Role::input_bias, "input_bias"}};
    return operands;
}

bool is_like_result(EpilogueStep::Kind step) { return epilogue_form(step).operand == EpilogueForm::Operand::result; }

const StepOperand *step_operand(EpilogueStep::Kind step) {
    const auto operand = std::ranges::find(step_operands(), step, &StepOperand::step);
    return operand == step_operands().end() ? nullptr : &*operand;
}

bool has_empty_result(const Workload &w) { return elements(signature(w).result.logical) == 0; }

Dimensions activation_dimensions(const std::vector<int64_t> &logical, const ActivationLayout &layout) {
    const size_t rank = logical.size() - 2;
    const int channel_axis = static_cast<int>(rank) + 1;
    const int64_t channels = logical.back();
    Dimensions dimensions{{"n", logical[0], 0}};
    for (size_t d = 0; d < rank; d++) {
        dimensions.push_back({spatial_name(d, rank), logical[d + 1], static_cast<int>(d) + 1});
    }
    switch (layout.kind) {
        case ActivationLayout::Kind::nhwc:
            dimensions.push_back({"c", channels, channel_axis});
            break;
        case ActivationLayout::Kind::nchw:
            dimensions.insert(dimensions.begin() + 1, {"c", channels, channel_axis});
            break;
        case ActivationLayout::Kind::nchwc:
            dimensions.insert(dimensions.begin() + 1,
                              {"c_block", (channels + layout.block - 1) / layout.block, channel_axis, layout.block});
            dimensions.push_back({"c", layout.block, channel_axis});
            break;
    }
    return dimensions;
}

Dimensions kernel_dimensions(const std::vector<int64_t> &logical, KernelLayout layout) {
    const size_t rank = logical.size() - 2;
    Dimensions dimensions;
    for (size_t d = 0; d < rank; d++) {
        dimensions.push_back({"k" + spatial_name(d, rank), logical[d], static_cast<int>(d)});
    }
    const int ci = static_cast<int>(rank);
    dimensions.push_back({"ci", logical[rank], ci});
    dimensions.push_back({"co", logical[rank + 1], ci + 1});
    if (layout == KernelLayout::hwoi) std::swap(dimensions[rank], dimensions[rank + 1]);
    return dimensions;
}

}  // namespace kiln
