#include "tuner/reference/quantized/quantized_operands.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "tuner/reference/random.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

using Range = ValueRange;

int64_t between(const Range &range, Random &random) {
    return range.lo + static_cast<int64_t>(random.next() % static_cast<uint64_t>(range.hi - range.lo + 1));
}

int64_t end_of(const Range &range, bool high) { return high ? range.hi : range.lo; }

// Often at an end of the range.
int64_t wide_value(const Range &range, Random &random) {
    const uint64_t kind = random.next() % 4;
    return kind < 2 ? end_of(range, kind == 0) : between(range, random);
}

template<typename T, typename Draw>
void fill(Tensor &tensor, Draw draw) {
    for (int64_t i = 0; i < tensor.elements(); i++) {
        const auto value = static_cast<T>(draw(i));
        std::memcpy(tensor.data.data() + i * static_cast<int64_t>(sizeof value), &value, sizeof value);
    }
}

// Activations and weights. Wide data lies at one end of the range, of some tensors all of it: sums are then as large as they can be.
struct Numbers {
    Data data;
    Range range;
    bool mostly_high;
    bool all_at_end = false;

    int64_t draw(Random &random) const {
        const uint64_t kind = all_at_end ? 0 : random.next() % 16;
        if (data == Data::ordinary) return kind < 2 ? end_of(range, kind == 0) : between(range, random);
        return kind < 14    ? end_of(range, mostly_high)
               : kind == 14 ? end_of(range, !mostly_high)
                            : between(range, random);
    }
};

Numbers wide_or_ordinary(Data data, const Range &range, Random &random) {
    Numbers numbers{data, range, random.next() % 4 != 0};
    numbers.all_at_end = data == Data::wide && random.next() % 2 == 0;
    return numbers;
}

void fill_numbers(Tensor &tensor, const Numbers &numbers, Random &random) {
    if (tensor.dtype == DType::u8) return fill<uint8_t>(tensor, [&](int64_t) { return numbers.draw(random); });
    fill<int8_t>(tensor, [&](int64_t) { return numbers.draw(random); });
}

// What makes sums of random numbers spread over most of the range of results.
double ordinary_scale(const Workload &w) {
    const double terms = double(elements(w.kernel)) / double(w.kernel.back());
    return 60 / (std::sqrt(terms) * 74 * 74);
}

// Each channel its own, every fourth a power of two: then sums of small numbers make ties.
double channel_scale(const Workload &w, Random &random) {
    const double scale = ordinary_scale(w) * std::exp2(random.uniform());
    return random.next() % 4 == 0 ? std::exp2(std::round(std::log2(scale))) : scale;
}

struct Multiplier {
    int32_t multiplier, shift;
};

constexpr Range multipliers{0, std::numeric_limits<int32_t>::max()}, shifts{-31, 30};

Multiplier multiplier_of(double scale) {
    int exponent = 0;
    auto fraction = static_cast<int64_t>(std::frexp(scale, &exponent) * 0x1p31 + 0.5);
    if (fraction == int64_t{1} << 31) fraction /= 2, exponent++;
    return {static_cast<int32_t>(fraction), static_cast<int32_t>(std::clamp(exponent, -31, 30))};
}

Multiplier draw_multiplier(const Workload &w, Data data, Random &random) {
    if (data == Data::ordinary || random.next() % 2) return multiplier_of(channel_scale(w, random));
    return {static_cast<int32_t>(wide_value(multipliers, random)), static_cast<int32_t>(wide_value(shifts, random))};
}

// From 0 and the smallest to the largest there is.
double wide_scale(Random &random) {
    constexpr float ends[] = {0, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()};
    const uint64_t kind = random.next() % 16;
    return kind < std::size(ends) ? ends[kind] : std::exp2(30 * random.uniform() - 10);
}

void fill_multipliers(const Workload &w, Data data, Random &random, Operands *operands) {
    Tensor &multiplier = operands->multiplier, &shift = operands->shift;
    for (int64_t i = 0; i < multiplier.elements(); i++) {
        const Multiplier drawn = draw_multiplier(w, data, random);
        std::memcpy(multiplier.data.data() + i * 4, &drawn.multiplier, 4);
        std::memcpy(shift.data.data() + i * 4, &drawn.shift, 4);
    }
}

// Ordinary biases are of the size of the sums.
Range bias_range(const Workload &w, Data data) {
    Range range = *value_range(w, Role::bias);
    if (data == Data::ordinary) range.hi = std::min(range.hi, static_cast<int64_t>(60 / ordinary_scale(w)));
    return {-range.hi, range.hi};
}

// Of an addition: operands lose what their sum regains, and a half of it.
constexpr double addition_scales[] = {0.5, 0.4375, 0x1.8p-19};

void fill_addition_multipliers(Data data, Random &random, Operands *operands) {
    const Range most_right{-31, 0};
    std::vector<int32_t> multiplier, shift;
    for (const double scale : addition_scales) {
        const Multiplier usual = multiplier_of(scale * std::exp2(random.uniform() / 4));
        const bool is_usual = data == Data::ordinary || random.next() % 2;
        multiplier.push_back(is_usual ? usual.multiplier : int32_t(wide_value(multipliers, random)));
        shift.push_back(std::min(0, is_usual ? usual.shift : int32_t(wide_value(most_right, random))));
    }
    fill<int32_t>(operands->addition_multiplier, [&](int64_t i) { return multiplier[i]; });
    fill<int32_t>(operands->addition_shift, [&](int64_t i) { return shift[i]; });
}

// Halves are frequent among ordinary ones.
void fill_addition_factors(Data data, Random &random, Tensor &factors) {
    constexpr float ends[] = {0, std::numeric_limits<float>::denorm_min(), largest_addition_factor};
    fill<float>(factors, [&](int64_t) {
        const double sign = random.next() % 2 ? -1 : 1;
        if (data == Data::wide && random.next() % 2) return sign * ends[random.next() % std::size(ends)];
        return random.next() % 4 == 0 ? sign * 0.5 : sign * std::exp2(2 * random.uniform() - 1.5);
    });
}

void fill_bounds(const Workload &w, Data data, Random &random, Tensor &bounds) {
    Range range = range_of(w.output_dtype);
    if (data == Data::wide || random.next() % 2) {
        const int64_t a = between(range, random), b = between(range, random);
        range = {std::min(a, b), std::max(a, b)};
    }
    fill<int32_t>(bounds, [&](int64_t i) { return i == 0 ? range.lo : range.hi; });
}

// Draws one operand; shifts come with their multipliers.
void fill_operand(const Workload &w, Data data, Role role, Random &random, Operands *operands) {
    Tensor &tensor = operands->*place_of(role);
    const bool is_wide = data == Data::wide;
    switch (role) {
        case Role::input:
            return fill_numbers(tensor, wide_or_ordinary(data, range_of(w.dtype), random), random);
        case Role::weights:
            return fill_numbers(tensor, wide_or_ordinary(data, range_of(w.kernel_dtype), random), random);
        case Role::bias: {
            const Range range = bias_range(w, data);
            return fill<int32_t>(tensor,
                                 [&](int64_t) { return is_wide ? wide_value(range, random) : between(range, random); });
        }
        case Role::multiplier:
            return fill_multipliers(w, data, random, operands);
        case Role::addition_multiplier:
            return fill_addition_multipliers(data, random, operands);
        case Role::shift:
        case Role::addition_shift:
            return;
        case Role::addend:
            return fill_numbers(tensor, wide_or_ordinary(data, range_of(w.output_dtype), random), random);
        case Role::addition_factors:
            return fill_addition_factors(data, random, tensor);
        case Role::scale:
            return fill<float>(tensor,
                               [&](int64_t) { return is_wide ? wide_scale(random) : channel_scale(w, random); });
        case Role::result_bounds:
        case Role::addition_bounds:
            return fill_bounds(w, data, random, tensor);
        default: {
            const Range range = *value_range(w, role);
            return fill<int32_t>(tensor,
                                 [&](int64_t) { return is_wide ? wide_value(range, random) : between(range, random); });
        }
    }
}

template<typename T>
std::vector<T> values_of(const Tensor &tensor) {
    std::vector<T> values(static_cast<size_t>(tensor.elements()));
    std::memcpy(values.data(), tensor.data.data(), values.size() * sizeof(T));
    return values;
}

Status check_integers(std::string_view name, const Tensor &tensor, const Range &range) {
    for (const int32_t value : values_of<int32_t>(tensor)) {
        if (value >= range.lo && value <= range.hi) continue;
        return bad_input(fmt::format("{} has the value {}; needs {} to {}", name, value, range.lo, range.hi));
    }
    return {};
}

Status check_factors(const Tensor &factors) {
    for (const float value : values_of<float>(factors)) {
        if (std::abs(value) <= largest_addition_factor) continue;
        return bad_input(fmt::format("addition_factors has the value {}; needs numbers from -2^64 to 2^64", value));
    }
    return {};
}

Status check_bounds(std::string_view name, const Tensor &tensor) {
    const std::vector<int32_t> bounds = values_of<int32_t>(tensor);
    if (bounds[0] <= bounds[1]) return {};
    return bad_input(fmt::format("{} are {} and {}; needs lo <= hi", name, bounds[0], bounds[1]));
}

Status check_scales(const Tensor &scale) {
    for (const float value : values_of<float>(scale)) {
        if (std::isfinite(value) && value >= 0) continue;
        return bad_input(fmt::format("scale has the value {}; needs finite numbers from 0 on", value));
    }
    return {};
}

}  // namespace

Operands quantized_operands(const Workload &w, Data data, uint64_t seed) {
    Operands operands;
    std::vector<NamedOperand> list = operand_list(w);
    for (NamedOperand &named : list) {
        Tensor &tensor = operands.*named.place;
        tensor = std::move(named.tensor);
        tensor.data.resize(static_cast<size_t>(tensor.elements()) * size_of(tensor.dtype));
    }
    uint64_t stream = 0;
    for (const NamedOperand &named : list) {
        Random random(seed * 0x9e3779b97f4a7c15 + ++stream * 0xd1b54a32d192ed03);
        fill_operand(w, data, named.role, random, &operands);
    }
    return operands;
}

Status check_quantized_values(const Workload &w, const Operands &operands) {
    for (const NamedOperand &named : operand_list(w)) {
        const Tensor &tensor = operands.*named.place;
        if (named.role == Role::scale) {
            if (Status s = check_scales(tensor); !s) return s;
        } else if (named.role == Role::addition_factors) {
            if (Status s = check_factors(tensor); !s) return s;
        } else if (const auto range = value_range(w, named.role)) {
            if (Status s = check_integers(named.name, tensor, *range); !s) return s;
        }
        if (named.role != Role::result_bounds && named.role != Role::addition_bounds) continue;
        if (Status s = check_bounds(named.name, tensor); !s) return s;
    }
    return {};
}

}  // namespace kiln
