#include "package/kernel_descriptor.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cpu_features.h"
#include "workload/signature.h"

namespace kiln {
namespace {

int32_t code(Operation op) {
    switch (op) {
        case Operation::conv:
            return KILN_CONV;
        case Operation::conv_backprop_input:
            return KILN_CONV_BACKPROP_INPUT;
        case Operation::conv_backprop_kernel:
            return KILN_CONV_BACKPROP_KERNEL;
        case Operation::space_to_depth:
            return KILN_SPACE_TO_DEPTH;
        case Operation::depth_to_space:
            return KILN_DEPTH_TO_SPACE;
        case Operation::layout_transform:
            return KILN_LAYOUT_TRANSFORM;
        case Operation::winograd_input_transform:
            return KILN_WINOGRAD_INPUT_TRANSFORM;
        case Operation::winograd_filter_transform:
            return KILN_WINOGRAD_FILTER_TRANSFORM;
        case Operation::winograd_output_transform:
            break;
    }
    return KILN_WINOGRAD_OUTPUT_TRANSFORM;
}

int32_t code(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return KILN_F32;
        case DType::f16:
            return KILN_F16;
        case DType::bf16:
            return KILN_BF16;
        case DType::i8:
            break;
    }
    return KILN_I8;
}

int32_t code(ActivationLayout::Kind kind) {
    switch (kind) {
        case ActivationLayout::Kind::nhwc:
            return KILN_NHWC;
        case ActivationLayout::Kind::nchw:
            return KILN_NCHW;
        case ActivationLayout::Kind::nchwc:
            break;
    }
    return KILN_NCHWC;
}

int32_t code(EpilogueStep::Kind kind) {
    switch (kind) {
        case EpilogueStep::Kind::bias:
            return KILN_EPILOGUE_BIAS;
        case EpilogueStep::Kind::add:
            return KILN_EPILOGUE_ADD;
        case EpilogueStep::Kind::relu:
            return KILN_EPILOGUE_RELU;
        case EpilogueStep::Kind::clamp:
            break;
    }
    return KILN_EPILOGUE_CLAMP;
}

int operand(Role role) {
    switch (role) {
        case Role::input:
            return KILN_INPUT;
        case Role::weights:
            return KILN_WEIGHTS;
        case Role::bias:
            return KILN_BIAS;
        case Role::addend:
            return KILN_ADDEND;
        case Role::output:
            break;
    }
    return KILN_OUTPUT;
}

OperandShape operand_shape(const TensorForm &form) {
    const std::vector<int64_t> stored = form.shape();
    OperandShape shape{code(form.dtype), static_cast<int32_t>(stored.size())};
    std::copy(stored.begin(), stored.end(), shape.shape);
    return shape;
}

Status check_rank(const TensorForm &form) {
    if (form.stored.size() <= KILN_MAX_RANK) return {};
    return unsupported(fmt::format("{} is stored with {} dimensions; a tensor of a package's call has at most {}",
                                   form.name, form.stored.size(), int(KILN_MAX_RANK)));
}

// What only the Winograd transforms have.
void describe_transform(const Workload &w, kiln_descriptor *d) {
    std::copy(w.window.begin(), w.window.end(), d->kernel);
    std::copy(w.tile.begin(), w.tile.end(), d->tile);
    std::copy(w.tile_dimensions.begin(), w.tile_dimensions.end(), d->tile_dimensions);
    std::copy(w.output.begin(), w.output.end(), d->output);
    d->points = static_cast<int32_t>(w.points);
    d->without_batch = !w.batch;
}

Status copy_layout_name(const std::string &field, const std::string &from, char (&to)[KILN_MAX_LAYOUT_NAME]) {
    if (from.size() >= KILN_MAX_LAYOUT_NAME) {
        return unsupported(fmt::format("{} `{}` is longer than the {} characters of a package's descriptor", field,
                                       from, KILN_MAX_LAYOUT_NAME - 1));
    }
    std::copy(from.begin(), from.end(), to);
    return {};
}

}  // namespace

Result<kiln_descriptor> descriptor_of(const Workload &w) {
    kiln_descriptor d;
    kiln_descriptor_init(&d, code(w.op), w.spatial_rank);
    d.dtype = code(w.dtype);
    d.output_dtype = code(w.output_dtype);
    if (!w.input.empty()) {
        d.batch = w.input.front();
        d.channels = w.input.back();
        std::copy(w.input.begin() + 1, w.input.end() - 1, d.spatial);
    }
    if (!w.kernel.empty()) {
        std::copy(w.kernel.begin(), w.kernel.end() - 2, d.kernel);
        d.output_channels = w.kernel.back();
        if (w.input.empty()) d.channels = w.kernel[w.spatial_rank];
    }
    if (is_winograd_transform(w.op)) describe_transform(w, &d);
    std::copy(w.strides.begin(), w.strides.end(), d.strides);
    std::copy(w.lhs_dilation.begin(), w.lhs_dilation.end(), d.lhs_dilation);
    std::copy(w.rhs_dilation.begin(), w.rhs_dilation.end(), d.rhs_dilation);
    for (size_t i = 0; i < w.padding.size(); i++) {
        d.padding_lo[i] = w.padding[i].lo;
        d.padding_hi[i] = w.padding[i].hi;
    }
    d.feature_group_count = w.feature_group_count;
    d.batch_group_count = w.batch_group_count;
    d.input_layout = code(w.input_layout.kind);
    d.input_layout_block = w.input_layout.block;
    d.output_layout = code(w.output_layout.kind);
    d.output_layout_block = w.output_layout.block;
    d.kernel_layout = w.kernel_layout == KernelLayout::hwio ? KILN_HWIO : KILN_HWOI;
    d.special_values = w.special_values == SpecialValues::finite ? KILN_FINITE : KILN_EXACT;
    if (w.epilogue.size() > KILN_MAX_EPILOGUE) {
        return unsupported(fmt::format("an epilogue of {} steps; a package's descriptor holds {}", w.epilogue.size(),
                                       int(KILN_MAX_EPILOGUE)));
    }
    for (const EpilogueStep &step : w.epilogue) d.epilogue[d.epilogue_count++] = {code(step.kind), step.lo, step.hi};
    std::copy(w.block.begin(), w.block.end(), d.block);
    if (Status s = copy_layout_name("from_layout", w.from_layout, d.from_layout); !s) return s.error();
    if (Status s = copy_layout_name("to_layout", w.to_layout, d.to_layout); !s) return s.error();
    const Signature tensors = signature(w);
    if (Status s = check_rank(tensors.result); !s) return s.error();
    for (const TensorForm &form : tensors.operands) {
        if (Status s = check_rank(form); !s) return s.error();
    }
    kiln_descriptor normalized;
    if (const char *problem = normalize(d, &normalized)) return unsupported(problem);
    return normalized;
}

CallShapes call_shapes(const Workload &w) {
    CallShapes shapes;
    const Signature tensors = signature(w);
    for (const TensorForm &form : tensors.operands) shapes.operands[operand(form.role)] = operand_shape(form);
    shapes.operands[KILN_OUTPUT] = operand_shape(tensors.result);
    return shapes;
}

Result<uint64_t> required_cpu_features(const Target &target) {
    uint64_t bits = 0;
    size_t found = 0;
    for (const CpuFeature &feature : cpu_features) {
        if (!has_feature(target, feature.halide)) continue;
        bits |= feature.bit;
        found++;
    }
    const size_t listed = std::count(target.halide.begin(), target.halide.end(), '-') - 2;  // after arch-bits-system
    if (found != listed) {
        std::string known;
        for (const CpuFeature &feature : cpu_features)
            known += (known.empty() ? "" : ", ") + std::string(feature.halide);
        return unsupported(
            fmt::format("target {} needs a feature that a package cannot look for at run time; it can "
                        "look for {}",
                        target.halide, known));
    }
    return bits;
}

}  // namespace kiln
