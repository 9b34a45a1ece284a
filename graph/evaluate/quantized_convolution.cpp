// Convolutions of i8 and u8: their sums are whole numbers below 2^53, which doubles add up exactly.
#include <algorithm>
#include <cmath>

#include "graph/convolution_inputs.h"
#include "graph/evaluate/operator_loops.h"
#include "graph/evaluate/walk.h"

namespace kiln::graph {
namespace {

using Integers = std::vector<int64_t>;

const Integers &integers(const Numbers &numbers) { return std::get<Integers>(numbers.elements); }

// Elements minus a zero point for each slice of the outermost axis, or one for all.
Numbers without_zero_point(const Numbers &stored, const Integers *zero_points) {
    Numbers result{{Element::f64, stored.form.shape}, std::vector<double>()};
    const Integers &elements = integers(stored);
    auto &values = std::get<std::vector<double>>(result.elements);
    values.reserve(elements.size());
    const size_t slice = zero_points ? elements.size() / zero_points->size() : 1;
    for (size_t i = 0; i < elements.size(); i++) {
        values.push_back(static_cast<double>(elements[i] - (zero_points ? (*zero_points)[i / slice] : 0)));
    }
    return result;
}

// The further inputs by what they are; null where there is none.
struct Operands {
    const Numbers *input_zero_point = nullptr, *kernel_zero_point = nullptr, *bias = nullptr, *scale = nullptr,
                  *output_zero_point = nullptr, *result_bounds = nullptr;

    Operands(const Convolution &op, const Task &task) {
        size_t next = 2;
        for (const ConvolutionInput &input : further_inputs(op, task.inputs[0]->form.type, task.result->form.shape)) {
            place(input.role) = task.inputs[next++];
        }
    }

    const Numbers *&place(Role role) {
        switch (role) {
            case Role::input_zero_point:
                return input_zero_point;
            case Role::kernel_zero_point:
                return kernel_zero_point;
            case Role::scale:
                return scale;
            case Role::output_zero_point:
                return output_zero_point;
            case Role::result_bounds:
                return result_bounds;
            default:
                return bias;
        }
    }
};

// As ONNX's QLinearConv has it: the product in f32, halves to even.
int64_t requantized(int64_t sum, int64_t channel, const Operands &operands) {
    const auto scale = static_cast<float>(std::get<std::vector<double>>(operands.scale->elements)[channel]);
    const float product = static_cast<float>(sum) * scale;
    const Integers &bounds = integers(*operands.result_bounds);
    const double number =
        std::nearbyint(static_cast<double>(product)) + double(integers(*operands.output_zero_point)[0]);
    if (std::isnan(number)) return bounds[0];
    return static_cast<int64_t>(std::clamp(number, double(bounds[0]), double(std::max(bounds[0], bounds[1]))));
}

}  // namespace

Status compute_quantized(const Convolution &op, const Task &task) {
    const Operands operands(op, task);
    const Integers *weight_zero_points = operands.kernel_zero_point ? &integers(*operands.kernel_zero_point) : nullptr;
    const Numbers x = without_zero_point(*task.inputs[0], &integers(*operands.input_zero_point));
    const Numbers w = without_zero_point(*task.inputs[1], weight_zero_points);
    Convolution plain = op;
    plain.epilogue.clear();
    plain.kernel_zero_point = false;
    const Result<Numbers> sums = evaluate(plain, {&x, &w}, task.interrupted);
    if (!sums) return sums.error();
    const auto &values = std::get<std::vector<double>>(sums->elements);
    auto &result = std::get<Integers>(task.result->elements);
    const Shape &shape = task.result->form.shape;
    const int64_t plane = product({shape.begin() + 2, shape.end()});
    for (size_t i = 0; i < values.size(); i++) {
        const int64_t channel = static_cast<int64_t>(i) / plane % shape[1];
        auto sum = static_cast<int64_t>(values[i]);
        if (operands.bias) sum += integers(*operands.bias)[channel];
        sum = wrapped(Element::i32, sum);
        result[i] = operands.scale ? requantized(sum, channel, operands) : sum;
    }
    return {};
}

}  // namespace kiln::graph
