#include "tuner/reference/quantized/quantized_convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/quantized/quantized_operands.h"
#include "tuner/reference/quantized/requantize_litert.h"
#include "tuner/reference/quantized/requantize_onnx.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"

namespace kiln {
namespace {

using Kind = EpilogueStep::Kind;

// The values of each operand in canonical order; empty where the workload has none.
class Values {
public:
    Values(const Workload &w, const Operands &operands) : operands_(operands), signature_(signature(w)) {}

    std::vector<double> operator()(Role role) const {
        const auto form = std::ranges::find(signature_.operands, role, &TensorForm::role);
        if (form == signature_.operands.end()) return {};
        return canonical(operands_.*place_of(role), *form);
    }

private:
    const Operands &operands_;
    const Signature signature_;
};

// Numbers minus their zero points, of which there is one for each element of the last axis, or one, or none.
std::vector<double> centered(std::vector<double> numbers, const std::vector<double> &zero_points) {
    if (zero_points.empty()) return numbers;
    for (size_t i = 0; i < numbers.size(); i++) numbers[i] -= zero_points[i % zero_points.size()];
    return numbers;
}

// The loops are in double, in which every partial sum of integers below 2^53 is exact.
std::vector<double> sums_of(const Workload &w, const Values &values) {
    const std::vector<double> input = centered(values(Role::input), values(Role::input_zero_point));
    const std::vector<double> kernel = centered(values(Role::weights), values(Role::kernel_zero_point));
    const std::vector<double> bias = values(Role::bias);
    std::vector<double> sums = convolve(w, input, kernel).sum;
    for (size_t i = 0; !bias.empty() && i < sums.size(); i++) sums[i] += bias[i % bias.size()];
    return sums;
}

bool fits_i32(double value) {
    return value >= std::numeric_limits<int32_t>::min() && value <= std::numeric_limits<int32_t>::max();
}

// LiteRT's ADD, from tflite/kernels/internal/reference/add.h: operands have 20 more bits while they are scaled.
class LitertAddition {
public:
    explicit LitertAddition(const Values &values)
        : multiplier_(values(Role::addition_multiplier)),
          shift_(values(Role::addition_shift)),
          zero_points_{values(Role::output_zero_point)[0], values(Role::addend_zero_point)[0]} {}

    double operator()(double number, double addend) const {
        constexpr double more_bits = 1 << 20;
        return scaled(
            scaled((number - zero_points_[0]) * more_bits, 0) + scaled((addend - zero_points_[1]) * more_bits, 1), 2);
    }

private:
    double scaled(double number, size_t i) const {
        return requantize_litert(static_cast<int32_t>(number), static_cast<int32_t>(multiplier_[i]),
                                 static_cast<int32_t>(shift_[i]));
    }

    const std::vector<double> multiplier_, shift_;
    const double zero_points_[2];
};

// Products and sums of two numbers of f32 are as good as exact in double, so that each step is rounded once.
double onnx_addition(const std::vector<double> &factors, double number, double addend) {
    const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    const double multiples = rounded(rounded(number * factors[0]) + rounded(addend * factors[1]));
    return std::nearbyint(rounded(multiples + factors[2]));
}

void add_quantized(const Workload &w, const Values &values, std::vector<double> *numbers) {
    const std::vector<double> addend = values(Role::addend), bounds = values(Role::addition_bounds);
    const double zero_point = values(Role::addition_zero_point)[0];
    const auto add_all = [&](const auto &addition) {
        for (size_t i = 0; i < numbers->size(); i++) {
            (*numbers)[i] = std::clamp(addition((*numbers)[i], addend[i]) + zero_point, bounds[0], bounds[1]);
        }
    };
    if (requantization_of(w)->kind == Kind::requantize_litert) return add_all(LitertAddition(values));
    const std::vector<double> factors = values(Role::addition_factors);
    add_all([&](double number, double of_addend) { return onnx_addition(factors, number, of_addend); });
}

void requantize(const Workload &w, const Values &values, std::vector<double> *sums) {
    const std::vector<double> multiplier = values(Role::multiplier), shift = values(Role::shift);
    const std::vector<double> scale = values(Role::scale), bounds = values(Role::result_bounds);
    const double zero_point = values(Role::output_zero_point)[0];
    const auto channels = static_cast<size_t>(w.kernel.back());
    for (size_t i = 0; i < sums->size(); i++) {
        const size_t c = i % channels;
        const auto sum = static_cast<int32_t>((*sums)[i]);
        const double number =
            requantization_of(w)->kind == Kind::requantize_litert
                ? requantize_litert(sum, static_cast<int32_t>(multiplier[c]), static_cast<int32_t>(shift[c]))
                : requantize_onnx(sum, static_cast<float>(scale[c]));
        (*sums)[i] = std::clamp(number + zero_point, bounds[0], bounds[1]);
    }
}

}  // namespace

Result<std::vector<double>> quantized_convolution(const Workload &w, const Operands &operands) {
    if (Status s = check_quantized_values(w, operands); !s) return s.error();
    const Values values(w, operands);
    std::vector<double> sums = sums_of(w, values);
    if (!std::ranges::all_of(sums, fits_i32)) return bad_input("a sum leaves i32");
    if (requantization_of(w)) requantize(w, values, &sums);
    if (adds_quantized(w)) add_quantized(w, values, &sums);
    return sums;
}

}  // namespace kiln
