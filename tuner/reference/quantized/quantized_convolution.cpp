#include "tuner/reference/quantized/quantized_convolution.h"

#include <algorithm>
#include <limits>

#include "tuner/reference/convolution_loops.h"
#include "tuner/reference/quantized/quantized_operands.h"
#include "tuner/reference/quantized/requantize_litert.h"
#include "tuner/reference/quantized/requantize_onnx.h"
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

void requantize(const Workload &w, const Values &values, std::vector<double> *sums) {
    const std::vector<double> multiplier = values(Role::multiplier), shift = values(Role::shift);
    const std::vector<double> scale = values(Role::scale), bounds = values(Role::result_bounds);
    const double zero_point = values(Role::output_zero_point)[0];
    const auto channels = static_cast<size_t>(w.kernel.back());
    for (size_t i = 0; i < sums->size(); i++) {
        const size_t c = i % channels;
        const auto sum = static_cast<int32_t>((*sums)[i]);
        const double number =
            w.epilogue.back().kind == Kind::requantize_litert
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
    if (!w.epilogue.empty() && is_requantization(w.epilogue.back().kind)) requantize(w, values, &sums);
    return sums;
}

}  // namespace kiln
