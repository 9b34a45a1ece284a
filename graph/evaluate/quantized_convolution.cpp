// Convolutions of i8 and u8: their sums are whole numbers below 2^53, which doubles add up exactly.
#include <algorithm>
#include <cmath>
#include <map>

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
class Operands {
public:
    Operands(const Convolution &op, const Task &task) {
        size_t next = 2;
        for (const ConvolutionInput &input : further_inputs(op, task.inputs[0]->form, task.result->form.shape)) {
            inputs_[input.role] = task.inputs[next++];
        }
    }

    bool has(Role role) const { return inputs_.contains(role); }
    const Integers &integers_of(Role role) const { return integers(*inputs_.at(role)); }
    float float_of(Role role, int64_t i) const {
        return static_cast<float>(std::get<std::vector<double>>(inputs_.at(role)->elements)[i]);
    }

private:
    std::map<Role, const Numbers *> inputs_;
};

int64_t within(double number, const Integers &bounds) {
    if (std::isnan(number)) return bounds[0];
    return static_cast<int64_t>(std::clamp(number, double(bounds[0]), double(std::max(bounds[0], bounds[1]))));
}

// As ONNX's QLinearConv has it: the product in f32, halves to even.
int64_t requantized(int64_t sum, int64_t channel, const Operands &operands) {
    const float product = static_cast<float>(sum) * operands.float_of(Role::scale, channel);
    const double number =
        std::nearbyint(static_cast<double>(product)) + double(operands.integers_of(Role::output_zero_point)[0]);
    return within(number, operands.integers_of(Role::result_bounds));
}

// workload/quantization/quantization.h. Products and sums of two numbers of f32 are as good as exact in double.
int64_t with_addend(int64_t number, int64_t addend, const Operands &operands) {
    const auto factor = [&](int64_t i) { return double(operands.float_of(Role::addition_factors, i)); };
    const auto own = static_cast<float>(double(number) * factor(0)),
               other = static_cast<float>(double(addend) * factor(1));
    const auto both = static_cast<float>(double(own) + double(other));
    const double sum = std::nearbyint(static_cast<float>(double(both) + factor(2)));
    return within(sum + double(operands.integers_of(Role::addition_zero_point)[0]),
                  operands.integers_of(Role::addition_bounds));
}

}  // namespace

Status compute_quantized(const Convolution &op, const Task &task) {
    const Operands operands(op, task);
    const Integers *weight_zero_points =
        operands.has(Role::kernel_zero_point) ? &operands.integers_of(Role::kernel_zero_point) : nullptr;
    const Numbers x = without_zero_point(*task.inputs[0], &operands.integers_of(Role::input_zero_point));
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
        if (operands.has(Role::bias)) sum += operands.integers_of(Role::bias)[channel];
        sum = wrapped(Element::i32, sum);
        result[i] = operands.has(Role::scale) ? requantized(sum, channel, operands) : sum;
        if (operands.has(Role::addend))
            result[i] = with_addend(result[i], operands.integers_of(Role::addend)[i], operands);
    }
    return {};
}

}  // namespace kiln::graph
