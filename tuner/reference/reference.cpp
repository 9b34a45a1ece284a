#include "tuner/reference/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "catalog/winograd_operation.h"
#include "tuner/reference/bounded_expression.h"
#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/movement_loops.h"
#include "tuner/reference/nest_loops.h"
#include "tuner/reference/quantized/quantized_convolution.h"
#include "tuner/reference/winograd_loops.h"
#include "workload/quantization/quantization.h"
#include "workload/separable/separable.h"

namespace kiln {

namespace {

// The values of a step's operand, one for each channel or one for each element; empty where it has none.
std::vector<double> values_of(const EpilogueStep &step, std::span<const StepOperand> all, const Workload &w,
                              const Operands &operands) {
    const auto operand = std::ranges::find(all, step.kind, &StepOperand::step);
    if (operand == all.end()) return {};
    const Signature tensors = signature(w);
    const auto form = std::ranges::find(tensors.operands, operand->role, &TensorForm::role);
    return canonical(operands.*place_of(operand->role), *form);
}

// In their order, on canonical N, spatial, C. An addition adds a magnitude. Another step may enlarge the errors of its sum by its
// steepness and then rounds; what only chooses among values leaves errors as they are.
void apply_steps(const std::vector<EpilogueStep> &steps, std::span<const StepOperand> step_operands, const Workload &w,
                 const Operands &operands, Sums &sums) {
    for (const EpilogueStep &step : steps) {
        const EpilogueForm &form = epilogue_form(step.kind);
        const std::vector<double> values = values_of(step, step_operands, w, operands);
        const scalar::Expression expression = function_of(step);
        BoundedExpression function(expression);
        std::vector<Bounded> arguments(values.empty() ? 1 : 2);
        for (size_t i = 0; i < sums.sum.size(); i++) {
            const double operand = values.empty() ? 0 : values[i % values.size()];
            arguments[0].value = sums.sum[i];
            if (!values.empty()) arguments[1].value = operand;
            sums.sum[i] = function(arguments).value;
            if (is_addition(step.kind)) sums.magnitude[i] += std::fabs(operand);
            if (form.steepness)
                sums.magnitude[i] = form.steepness(step, operand) * sums.magnitude[i] + std::fabs(sums.sum[i]);
        }
    }
}

// What a convolution multiplies. Errors of what a prologue or a depthwise convolution makes of an input are relative to its
// magnitude, and weights enlarge them.
Sums loaded_input(const Workload &w, const Operands &operands, std::vector<double> input) {
    Sums loaded;
    if (!w.depthwise.empty()) {
        const Workload part = depthwise_part(w);
        loaded = convolve(part, input, canonical_kernel(operands.depthwise_kernel, part.kernel, part.kernel_layout));
    } else {
        loaded.sum = std::move(input);
        for (const double value : loaded.sum) loaded.magnitude.push_back(std::fabs(value));
    }
    apply_steps(w.prologue, prologue_operands(), w, operands, loaded);
    return loaded;
}

Sums convolve_loaded(const Workload &w, const Sums &loaded, const std::vector<double> &kernel) {
    const Workload reader = w.depthwise.empty() ? w : pointwise_part(w);
    return {convolve(reader, loaded.sum, kernel).sum, convolve(reader, loaded.magnitude, kernel).magnitude};
}

Sums moved(const Workload &w, const std::vector<double> &operand) {
    Sums sums{move_elements(w, operand), {}};
    for (double value : sums.sum) sums.magnitude.push_back(std::fabs(value));
    return sums;
}

}  // namespace

Status check_reference(const Workload &w) {
    if (is_data_movement(w.op) || is_nest(w.op)) return {};
    if (!is_convolution(w.op)) {
        const auto matrices = winograd_matrices_of(w);
        return matrices ? Status() : matrices.error();
    }
    if (Status s = check_quantization(w); !s)
        return unsupported(fmt::format("{}: there is no reference: {}", op_name(w), s.error().message));
    if (w.op != Operation::conv && !w.epilogue.empty()) {
        return unsupported(fmt::format("{}: a gradient has no epilogue", op_name(w)));
    }
    return {};
}

Result<Reference> reference(const Workload &w, const Operands &operands) {
    if (Status s = check_reference(w); !s) return s.error();
    if (is_nest(w.op)) {
        Sums sums = compute_nest(w, operands);
        return Reference{std::move(sums.sum), std::move(sums.magnitude)};
    }
    if (!is_convolution(w.op)) {
        const TensorForm form = signature(w).operands[0];
        const Tensor &operand = form.role == Role::weights ? operands.second : operands.first;
        const std::vector<double> values = canonical(operand, form);
        const Result<Sums> sums = is_data_movement(w.op) ? moved(w, values) : transform_tiles(w, values);
        if (!sums) return sums.error();
        return Reference{store_result(w, sums->sum), store_result(w, sums->magnitude)};
    }
    if (is_quantized(w)) {
        const Result<std::vector<double>> result = quantized_convolution(w, operands);
        if (!result) return result.error();
        return Reference{store_result(w, *result), std::vector<double>(elements(signature(w).result.shape()))};
    }
    const std::vector<int64_t> output = output_shape(w);
    const auto input = [&](const Tensor &t) { return canonical_activation(t, w.input, w.input_layout); };
    const auto result_gradient = [&](const Tensor &t) { return canonical_activation(t, output, w.output_layout); };
    std::vector<double> first =
        w.op == Operation::conv_backprop_input ? result_gradient(operands.first) : input(operands.first);
    const std::vector<double> second = w.op == Operation::conv_backprop_kernel
                                           ? result_gradient(operands.second)
                                           : canonical_kernel(operands.second, w.kernel, w.kernel_layout);
    const bool is_plain = w.prologue.empty() && w.depthwise.empty();
    Sums sums =
        is_plain ? convolve(w, first, second) : convolve_loaded(w, loaded_input(w, operands, std::move(first)), second);
    apply_steps(w.epilogue, step_operands(), w, operands, sums);
    return Reference{store_result(w, sums.sum), store_result(w, sums.magnitude)};
}

}  // namespace kiln
