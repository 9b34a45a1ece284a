#include "tuner/reference/reference.h"

#include <fmt/format.h>

#include <cmath>

#include "catalog/winograd_operation.h"
#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/movement_loops.h"
#include "tuner/reference/nest_loops.h"
#include "tuner/reference/winograd_loops.h"

namespace kiln {

namespace {

// In the order of the workload, on canonical N, spatial, C. Comparisons are written so that NaN passes through.
void apply_epilogue(const Workload &w, const Operands &operands, Sums &sums) {
    const size_t channels = size_t(w.kernel.back());
    const auto add = [&](size_t at, double value) {
        sums.sum[at] += value;
        sums.magnitude[at] += std::fabs(value);
    };
    for (const EpilogueStep &step : w.epilogue) {
        switch (step.kind) {
            case EpilogueStep::Kind::bias: {
                const auto bias =
                    canonical(operands.bias, {.logical = {w.kernel.back()}, .stored = {{"c", w.kernel.back(), 0}}});
                for (size_t i = 0; i < sums.sum.size(); i++) {
                    add(i, bias[i % channels]);
                }
                break;
            }
            case EpilogueStep::Kind::add: {
                const auto addend = canonical_activation(operands.addend, output_shape(w), w.output_layout);
                for (size_t i = 0; i < sums.sum.size(); i++) {
                    add(i, addend[i]);
                }
                break;
            }
            case EpilogueStep::Kind::relu:
                for (double &y : sums.sum) {
                    y = y < 0 ? 0 : y;
                }
                break;
            case EpilogueStep::Kind::clamp:
                for (double &y : sums.sum) {
                    y = y < step.lo ? step.lo : y > step.hi ? step.hi : y;
                }
                break;
        }
    }
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
    if (w.dtype == DType::i8 || w.output_dtype == DType::i8) {
        return unsupported(fmt::format("{}: there is no reference for dtype i8 yet", op_name(w)));
    }
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
    const std::vector<int64_t> output = output_shape(w);
    const auto input = [&](const Tensor &t) { return canonical_activation(t, w.input, w.input_layout); };
    const auto result_gradient = [&](const Tensor &t) { return canonical_activation(t, output, w.output_layout); };
    const std::vector<double> first =
        w.op == Operation::conv_backprop_input ? result_gradient(operands.first) : input(operands.first);
    const std::vector<double> second = w.op == Operation::conv_backprop_kernel
                                           ? result_gradient(operands.second)
                                           : canonical_kernel(operands.second, w.kernel, w.kernel_layout);
    Sums sums = convolve(w, first, second);
    apply_epilogue(w, operands, sums);
    return Reference{store_result(w, sums.sum), store_result(w, sums.magnitude)};
}

}  // namespace kiln
