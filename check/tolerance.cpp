#include "check/tolerance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "tuner/reference/half.h"

namespace kiln {
namespace {

template<typename T>
T load(const Tensor &tensor, int64_t index) {
    T value;
    std::memcpy(&value, tensor.data.data() + index * sizeof(T), sizeof value);
    return value;
}

double element(const Tensor &tensor, int64_t index) {
    switch (tensor.dtype) {
        case DType::f32:
            return load<float>(tensor, index);
        case DType::f16:
            return f16_to_float(load<uint16_t>(tensor, index));
        case DType::bf16:
            return bf16_to_float(load<uint16_t>(tensor, index));
        case DType::i8:
            return load<int8_t>(tensor, index);
        case DType::i32:
            return load<int32_t>(tensor, index);
    }
    return 0;
}

// Relative to max(1, |expected|); infinite where only equality would do.
double error(double got, double expected) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
    if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
    return std::fabs(got - expected) / std::max(1.0, std::fabs(expected));
}

double base(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return 1e-4;
        case DType::f16:
            return 1e-2;
        case DType::bf16:
            return 5e-2;
        case DType::i8:
        case DType::i32:
            return 0;
    }
    return 0;
}

}  // namespace

Tolerance convolution_tolerance(const Workload &w) {
    const double terms = static_cast<double>(elements(w.kernel)) / static_cast<double>(w.kernel.back());
    return {std::log(std::max(2.0, terms)) * std::max(base(w.dtype), base(w.output_dtype))};
}

Verdict judge(const Tensor &got, const Tensor &expected, Tolerance tolerance) {
    if (got.shape != expected.shape) {
        return {.reason = fmt::format("the output has shape [{}]; expected is [{}]", fmt::join(got.shape, ", "),
                                      fmt::join(expected.shape, ", "))};
    }
    double worst = 0;
    int64_t worst_at = 0, wrong = 0;
    const int64_t count = expected.elements();
    for (int64_t i = 0; i < count; i++) {
        const double e = error(element(got, i), element(expected, i));
        wrong += e > tolerance.value;
        if (e > worst) {
            worst = e;
            worst_at = i;
        }
    }
    Verdict verdict{.passed = wrong == 0};
    if (std::isfinite(worst)) verdict.max_error = worst;
    if (!verdict.passed) {
        verdict.reason = fmt::format("{} of {} elements are wrong; element {} is {:.9g} where {:.9g} is expected",
                                     wrong, count, worst_at, element(got, worst_at), element(expected, worst_at));
    }
    return verdict;
}

}  // namespace kiln
