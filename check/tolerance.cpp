#include "check/tolerance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

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
        case DType::u8:
            return load<uint8_t>(tensor, index);
    }
    return 0;
}

// Relative to max(1, |expected|) unless the tolerance is absolute; infinite where only equality would do.
double error(double got, double expected, bool is_absolute) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
    if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
    return std::fabs(got - expected) / (is_absolute ? 1 : std::max(1.0, std::fabs(expected)));
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
        case DType::u8:
            return 0;
    }
    return 0;
}

}  // namespace

Tolerance convolution_tolerance(const Workload &w) {
    const int64_t in_front = w.depthwise.empty() ? 0 : elements(w.depthwise);
    const double terms = static_cast<double>(elements(w.kernel) / w.kernel.back() + in_front);
    return {std::log(std::max(2.0, terms)) * std::max(base(w.dtype), base(w.output_dtype))};
}

namespace {

// `error_of(i)`: of element i. `text_of(i)`: what it is, and what is expected.
template<typename ErrorOf, typename TextOf>
Verdict judge_elements(int64_t count, Tolerance tolerance, const ErrorOf &error_of, const TextOf &text_of) {
    double worst = 0;
    int64_t worst_at = 0, wrong = 0;
    for (int64_t i = 0; i < count; i++) {
        const double e = error_of(i);
        wrong += e > tolerance.value;
        if (e > worst) {
            worst = e;
            worst_at = i;
        }
    }
    Verdict verdict{.passed = wrong == 0};
    if (std::isfinite(worst)) verdict.max_error = worst;
    if (!verdict.passed) {
        verdict.reason =
            fmt::format("{} of {} elements are wrong; element {} is {}", wrong, count, worst_at, text_of(worst_at));
    }
    return verdict;
}

// `at(i)`: the elements got and expected.
template<typename At>
Verdict judge_numbers(int64_t count, Tolerance tolerance, const At &at) {
    return judge_elements(
        count, tolerance,
        [&](int64_t i) {
            const auto [got, expected] = at(i);
            return error(got, expected, tolerance.is_absolute);
        },
        [&](int64_t i) {
            const auto [got, expected] = at(i);
            return fmt::format("{:.9g} where {:.9g} is expected", got, expected);
        });
}

// Integers of 64 bits differ where their doubles do not, and their difference may need 64 bits without a sign. As a double it is
// at least 1 where they differ, so that a tolerance of 0 asks for equality.
template<typename T, typename At>
Verdict judge_integers(int64_t count, Tolerance tolerance, const At &at) {
    return judge_elements(
        count, tolerance,
        [&](int64_t i) {
            const std::pair<T, T> pair = at(i);
            const auto x = static_cast<uint64_t>(pair.first), y = static_cast<uint64_t>(pair.second);
            const auto distance = static_cast<double>(pair.first > pair.second ? x - y : y - x);
            const double size = tolerance.is_absolute ? 1 : std::fabs(static_cast<double>(pair.second));
            return distance / std::max(1.0, size);
        },
        [&](int64_t i) {
            const std::pair<T, T> pair = at(i);
            return fmt::format("{} where {} is expected", pair.first, pair.second);
        });
}

std::string other_shape(const std::vector<int64_t> &got, const std::vector<int64_t> &expected) {
    return fmt::format("the output has shape [{}]; expected is [{}]", fmt::join(got, ", "), fmt::join(expected, ", "));
}

}  // namespace

Verdict judge(const Tensor &got, const Tensor &expected, Tolerance tolerance) {
    if (got.shape != expected.shape) return {.reason = other_shape(got.shape, expected.shape)};
    return judge_numbers(expected.elements(), tolerance,
                         [&](int64_t i) { return std::pair(element(got, i), element(expected, i)); });
}

Verdict judge(const Elements &got, const Elements &expected, Tolerance tolerance) {
    if (got.shape != expected.shape) return {.reason = other_shape(got.shape, expected.shape)};
    if (got.type != expected.type) {
        return {.reason =
                    fmt::format("the output's elements are {}; expected are {}", name(got.type), name(expected.type))};
    }
    const int size = size_of(expected.type);
    const auto count = static_cast<int64_t>(expected.bytes.size()) / size;
    if (got.bytes.size() != expected.bytes.size()) {
        return {.reason =
                    fmt::format("the output has {} bytes; expected are {}", got.bytes.size(), expected.bytes.size())};
    }
    const auto pair_by = [&](const auto &read) {
        return [&got, &expected, size, read](int64_t i) {
            return std::pair(read(got.bytes.data() + i * size), read(expected.bytes.data() + i * size));
        };
    };
    if (is_float(expected.type)) {
        return judge_numbers(count, tolerance,
                             pair_by([&](const std::byte *at) { return read_float(expected.type, at); }));
    }
    if (expected.type == scalar::Element::u64) {  // read_integer() makes one number of all that are beyond i64
        return judge_integers<uint64_t>(count, tolerance, pair_by([](const std::byte *at) {
                                            uint64_t value;
                                            std::memcpy(&value, at, sizeof value);
                                            return value;
                                        }));
    }
    return judge_integers<int64_t>(count, tolerance,
                                   pair_by([&](const std::byte *at) { return read_integer(expected.type, at); }));
}

}  // namespace kiln
