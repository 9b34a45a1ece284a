#include "package/kernel_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/cpu_features.h"
#include "runtime/descriptor.h"
#include "workload/workload_fields.h"

namespace kiln {
namespace {

// Tensors are dense, so outermost dimensions of a nest that a call's tensor has no room for are one with the next.
OperandShape operand_shape(const TensorForm &form) {
    std::vector<int64_t> stored = form.shape();
    while (stored.size() > KILN_MAX_RANK) {
        stored[1] *= stored[0];
        stored.erase(stored.begin());
    }
    OperandShape shape{interface_code(form.dtype), static_cast<int32_t>(stored.size())};
    std::copy(stored.begin(), stored.end(), shape.shape);
    return shape;
}

Status check_rank(const TensorForm &form) {
    if (form.stored.size() <= KILN_MAX_RANK) return {};
    return unsupported(fmt::format("{} is stored with {} dimensions; a tensor of a package's call has at most {}",
                                   form.name, form.stored.size(), int(KILN_MAX_RANK)));
}

// Lists and names must fit into the arrays of a descriptor.
Status check_fits(const Workload &w) {
    for (const auto &[what, steps] : {std::pair{"an epilogue", &w.epilogue}, {"a prologue", &w.prologue}}) {
        if (steps->size() <= KILN_MAX_EPILOGUE) continue;
        return unsupported(fmt::format("{} of {} steps; a package's descriptor holds {}", what, steps->size(),
                                       int(KILN_MAX_EPILOGUE)));
    }
    for (const auto &[field, layout] : {std::pair{"from_layout", &w.from_layout}, {"to_layout", &w.to_layout}}) {
        if (layout->size() < KILN_MAX_LAYOUT_NAME) continue;
        return unsupported(fmt::format("{} `{}` is longer than the {} characters of a package's descriptor", field,
                                       *layout, KILN_MAX_LAYOUT_NAME - 1));
    }
    return {};
}

// The shapes of a nest say nothing but its loops and reads, so those may be joined.
Status check_ranks(const Workload &w, const Signature &tensors) {
    if (is_nest(w.op)) return {};
    for (const TensorForm &form : tensors.operands) {
        if (Status s = check_rank(form); !s) return s;
    }
    return check_rank(tensors.result);
}

CallShapes shapes_of(const Signature &tensors) {
    CallShapes shapes;
    for (const TensorForm &form : tensors.operands) shapes.operands[interface_code(form.role)] = operand_shape(form);
    shapes.operands[KILN_OUTPUT] = operand_shape(tensors.result);
    return shapes;
}

}  // namespace

int interface_code(Role role) {
    switch (role) {
        case Role::input:
            return KILN_INPUT;
        case Role::weights:
            return KILN_WEIGHTS;
        case Role::bias:
            return KILN_BIAS;
        case Role::addend:
            return KILN_ADDEND;
        case Role::slope:
            return KILN_SLOPE;
        case Role::factor:
            return KILN_FACTOR;
        case Role::input_factor:
            return KILN_INPUT_FACTOR;
        case Role::input_bias:
            return KILN_INPUT_BIAS;
        case Role::depthwise_kernel:
            return KILN_DEPTHWISE_KERNEL;
        case Role::input_zero_point:
            return KILN_INPUT_ZERO_POINT;
        case Role::kernel_zero_point:
            return KILN_KERNEL_ZERO_POINT;
        case Role::multiplier:
            return KILN_MULTIPLIER;
        case Role::shift:
            return KILN_SHIFT;
        case Role::scale:
            return KILN_SCALE;
        case Role::output_zero_point:
            return KILN_OUTPUT_ZERO_POINT;
        case Role::result_bounds:
            return KILN_RESULT_BOUNDS;
        case Role::addend_zero_point:
            return KILN_ADDEND_ZERO_POINT;
        case Role::addition_multiplier:
            return KILN_ADDITION_MULTIPLIER;
        case Role::addition_shift:
            return KILN_ADDITION_SHIFT;
        case Role::addition_factors:
            return KILN_ADDITION_FACTORS;
        case Role::addition_zero_point:
            return KILN_ADDITION_ZERO_POINT;
        case Role::addition_bounds:
            return KILN_ADDITION_BOUNDS;
        case Role::output:
            return KILN_OUTPUT;
        default:
            return KILN_OPERAND_1 + static_cast<int>(role) - static_cast<int>(Role::operand_1);
    }
}

Result<InterfaceForm> interface_form(const Workload &w) {
    if (Status s = check_fits(w); !s) return s.error();
    const Signature tensors = signature(w);
    if (Status s = check_ranks(w, tensors); !s) return s.error();
    kiln_descriptor d;
    kiln_descriptor_init(&d, interface_code(w.op), w.spatial_rank);
    for (const WorkloadField &field : workload_fields()) {
        if (field.is_used_by(w.op)) field.describe(w, &d);
    }
    InterfaceForm form{.shapes = shapes_of(tensors)};
    if (const char *problem = normalize(d, &form.descriptor)) return unsupported(problem);
    return form;
}

Result<kiln_descriptor> descriptor_of(const Workload &w) {
    const Result<InterfaceForm> form = interface_form(w);
    if (!form) return form.error();
    return form->descriptor;
}

CallShapes call_shapes(const Workload &w) { return shapes_of(signature(w)); }

Result<uint64_t> required_cpu_features(const Target &target) {
    uint64_t bits = 0;
    size_t found = 0;
    for (const CpuFeature &feature : cpu_features) {
        if (!has_feature(target, feature.name)) continue;
        bits |= feature.bit | feature.includes;
        found++;
    }
    const size_t listed = std::count(target.halide.begin(), target.halide.end(), '-') - 2;  // after arch-bits-system
    if (found != listed) {
        std::string known;
        for (const CpuFeature &feature : cpu_features) known += (known.empty() ? "" : ", ") + std::string(feature.name);
        return unsupported(
            fmt::format("target {} needs a feature that a package cannot look for at run time; it can "
                        "look for {}",
                        target.halide, known));
    }
    return bits;
}

}  // namespace kiln
