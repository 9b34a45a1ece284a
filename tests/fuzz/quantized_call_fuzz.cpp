// Quantized convolutions through the C interface, with operands at the ends of their ranges and beyond. The kernel for any sizes
// computes what plain loops in 64 bits do, and no sum leaves i32; a value out of its range is refused, and the result stays as it was.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/fuzz/fuzz_input.h"
#include "tests/runtime/fake_package.h"

using namespace kiln;

namespace {

constexpr int64_t smallest_i32 = std::numeric_limits<int32_t>::min(), largest_i32 = std::numeric_limits<int32_t>::max();

struct Range {
    int64_t lo, hi;
    bool holds(int64_t value) const { return value >= lo && value <= hi; }
};
Range range_of(int32_t dtype) { return dtype == KILN_U8 ? Range{0, 255} : Range{-128, 127}; }

int64_t below(FuzzInput &input, int64_t count) { return input.take<uint8_t>() % count; }

int32_t take_small_dtype(FuzzInput &input) {
    if (below(input, 2)) return KILN_U8;
    return KILN_I8;
}

int64_t largest_weight(const kiln_descriptor &d) {
    return d.kernel_dtype == KILN_I8 && !d.kernel_zero_point ? 128 : 255;
}

// One output of as many products as i32 holds.
void make_long(kiln_descriptor *d) {
    d->feature_group_count = d->output_channels = 1;
    d->channels = largest_i32 / (255 * largest_weight(*d));
    for (int i = 0; i < 2; i++) d->kernel[i] = 1, d->spatial[i] = std::min<int64_t>(d->spatial[i], 2);
}

kiln_descriptor take_descriptor(FuzzInput &input) {
    kiln_descriptor d;
    kiln_descriptor_init(&d, KILN_CONV, 2);
    d.dtype = take_small_dtype(input);
    d.kernel_dtype = take_small_dtype(input);
    d.kernel_zero_point = static_cast<int32_t>(below(input, 2));
    d.batch = 1;
    const auto groups = input.take<uint8_t>();
    const bool is_long = groups >= 240;
    d.feature_group_count = 1 + groups % 3;
    d.channels = d.feature_group_count * (1 + below(input, 9));
    d.output_channels = d.feature_group_count * (1 + below(input, 5));
    for (int i = 0; i < 2; i++) {
        d.spatial[i] = 1 + below(input, 5), d.kernel[i] = 1 + below(input, 3);
        d.strides[i] = 1 + below(input, 2), d.rhs_dilation[i] = 1 + below(input, 2);
        d.padding_lo[i] = below(input, 4) - 1, d.padding_hi[i] = below(input, 4) - 1;
    }
    if (is_long) make_long(&d);
    if (below(input, 2)) d.epilogue[d.epilogue_count++].kind = KILN_EPILOGUE_BIAS;
    const auto last = input.take<uint8_t>();
    d.output_dtype = KILN_I32;
    if (last % 3 == 0) return d;
    d.output_dtype = take_small_dtype(input);
    d.epilogue[d.epilogue_count++].kind =
        last % 3 == 1 ? KILN_EPILOGUE_REQUANTIZE_LITERT : KILN_EPILOGUE_REQUANTIZE_ONNX;
    if (last >= 128) d.epilogue[d.epilogue_count++].kind = KILN_EPILOGUE_ADD;
    return d;
}

bool has_step(const kiln_descriptor &d, int32_t kind) {
    return std::any_of(d.epilogue, d.epilogue + d.epilogue_count, [&](const auto &step) { return step.kind == kind; });
}

int64_t output_extent(const kiln_descriptor &d, int i) {
    const int64_t reach = (d.kernel[i] - 1) * d.rhs_dilation[i] + 1;
    const int64_t room = d.spatial[i] + d.padding_lo[i] + d.padding_hi[i] - reach;
    return room < 0 ? 0 : room / d.strides[i] + 1;
}

int64_t largest_product_sum(const kiln_descriptor &d) {
    const int64_t terms = d.channels / d.feature_group_count * d.kernel[0] * d.kernel[1];
    return terms * 255 * largest_weight(d);
}

// Integers of one operand, and whether all are in their range.
struct DrawnOperands {
    std::vector<int64_t> input, weights, bias, input_zero_point, kernel_zero_point, multiplier, shift,
        output_zero_point, bounds, addend, addend_zero_point, addition_multiplier, addition_shift, addition_zero_point,
        addition_bounds;
    std::vector<float> scale, addition_factors;
    bool are_allowed = true;

    // Mostly an end of the range, now and then one beyond.
    std::vector<int64_t> take(FuzzInput &in, int64_t count, const Range &range, bool may_leave = true) {
        std::vector<int64_t> values;
        for (int64_t i = 0; i < count; i++) {
            const auto kind = in.take<uint8_t>();
            int64_t value = kind % 2 ? range.hi : range.lo;
            if (kind >= 160) value = range.lo + static_cast<int64_t>(in.take<uint32_t>()) % (range.hi - range.lo + 1);
            if (may_leave && kind >= 250) value = kind % 2 ? range.hi + 1 : range.lo - 1;
            value = std::clamp(value, smallest_i32, largest_i32);
            are_allowed = are_allowed && range.holds(value);
            values.push_back(value);
        }
        return values;
    }

    // Any that a tensor holds. Those of long sums repeat: no input has as many.
    std::vector<int64_t> take_stored(FuzzInput &in, int64_t count, int32_t dtype) {
        constexpr int64_t most = 4096, repeated = 16;
        std::vector<int64_t> values = take(in, count > most ? repeated : count, range_of(dtype), false);
        while (static_cast<int64_t>(values.size()) < count) values.push_back(values[values.size() - repeated]);
        return values;
    }

    std::vector<float> take_factors(FuzzInput &in) {
        constexpr float ends[] = {0, 1, 0.5F, 1e-45F, 0x1p64F}, beyond[] = {-0x1p64F, 0x1.000002p64F, -INFINITY, NAN};
        std::vector<float> values;
        for (int i = 0; i < 3; i++) {
            const auto kind = in.take<uint8_t>();
            const float sign = kind % 2 ? -1 : 1;
            const float value = kind < 160
                                    ? sign * std::ldexp(1 + float(in.take<uint16_t>()) / 65536, 1 - int(kind % 7))
                                : kind < 250 ? sign * ends[kind % 5]
                                             : beyond[kind % 4];
            are_allowed = are_allowed && std::abs(value) <= 0x1p64F;
            values.push_back(value);
        }
        return values;
    }

    void take_addition(FuzzInput &in, const kiln_descriptor &d) {
        addend =
            take(in, output_extent(d, 0) * output_extent(d, 1) * d.output_channels, range_of(d.output_dtype), false);
        if (has_step(d, KILN_EPILOGUE_REQUANTIZE_LITERT)) {
            addend_zero_point = take(in, 1, range_of(d.output_dtype));
            addition_multiplier = take(in, 3, {0, largest_i32}), addition_shift = take(in, 3, {-31, 0});
        } else {
            addition_factors = take_factors(in);
        }
        addition_zero_point = take(in, 1, range_of(d.output_dtype));
        addition_bounds = take(in, 2, range_of(d.output_dtype));
        are_allowed = are_allowed && addition_bounds[0] <= addition_bounds[1];
    }

    std::vector<float> take_scales(FuzzInput &in, int64_t count) {
        constexpr float ends[] = {0, 1, 0.5F, 1e-45F, 3.4028235e38F, -1e-30F, INFINITY, NAN};
        std::vector<float> values;
        for (int64_t i = 0; i < count; i++) {
            const auto kind = in.take<uint8_t>();
            const float value = kind < 128   ? std::ldexp(1 + float(in.take<uint16_t>()) / 65536, -int(kind % 40))
                                : kind < 250 ? ends[kind % 5]
                                             : ends[kind % 8];
            are_allowed = are_allowed && value >= 0 && std::isfinite(value);
            values.push_back(value);
        }
        return values;
    }

    DrawnOperands(FuzzInput &in, const kiln_descriptor &d) {
        const int64_t channels = d.output_channels, room = largest_i32 - largest_product_sum(d);
        input = take_stored(in, d.spatial[0] * d.spatial[1] * d.channels, d.dtype);
        weights =
            take_stored(in, d.kernel[0] * d.kernel[1] * d.channels / d.feature_group_count * channels, d.kernel_dtype);
        if (has_step(d, KILN_EPILOGUE_BIAS)) bias = take(in, channels, {-room, room});
        input_zero_point = take(in, 1, range_of(d.dtype));
        if (d.kernel_zero_point) kernel_zero_point = take(in, channels, range_of(d.kernel_dtype));
        if (has_step(d, KILN_EPILOGUE_REQUANTIZE_LITERT))
            multiplier = take(in, channels, {0, largest_i32}), shift = take(in, channels, {-31, 30});
        if (has_step(d, KILN_EPILOGUE_REQUANTIZE_ONNX)) scale = take_scales(in, channels);
        if (d.output_dtype == KILN_I32) return;
        output_zero_point = take(in, 1, range_of(d.output_dtype));
        bounds = take(in, 2, range_of(d.output_dtype));
        are_allowed = are_allowed && bounds[0] <= bounds[1];
        if (has_step(d, KILN_EPILOGUE_ADD)) take_addition(in, d);
    }
};

int64_t sum_at(const kiln_descriptor &d, const DrawnOperands &o, int64_t y, int64_t x, int64_t channel) {
    const int64_t inputs = d.channels / d.feature_group_count, outputs = d.output_channels / d.feature_group_count;
    int64_t sum = o.bias.empty() ? 0 : o.bias[channel];
    for (int64_t r = 0; r < d.kernel[0]; r++) {
        for (int64_t s = 0; s < d.kernel[1]; s++) {
            const int64_t row = y * d.strides[0] + r * d.rhs_dilation[0] - d.padding_lo[0];
            const int64_t column = x * d.strides[1] + s * d.rhs_dilation[1] - d.padding_lo[1];
            if (row < 0 || row >= d.spatial[0] || column < 0 || column >= d.spatial[1]) continue;
            for (int64_t c = 0; c < inputs; c++) {
                const int64_t of_input = (row * d.spatial[1] + column) * d.channels + channel / outputs * inputs + c;
                const int64_t of_weight = ((r * d.kernel[1] + s) * inputs + c) * d.output_channels + channel;
                const int64_t zero_point = o.kernel_zero_point.empty() ? 0 : o.kernel_zero_point[channel];
                sum += (o.input[of_input] - o.input_zero_point[0]) * (o.weights[of_weight] - zero_point);
            }
        }
    }
    KILN_FUZZ_EXPECT(sum >= smallest_i32 && sum <= largest_i32);
    return sum;
}

// As LiteRT's reference kernels have it.
int64_t litert(int64_t sum, int64_t multiplier, int64_t shift) {
    const int64_t left = std::max<int64_t>(shift, 0), right = std::max<int64_t>(-shift, 0), most = largest_i32 >> left;
    const int64_t product = std::clamp(sum, -most - 1, most) * (int64_t{1} << left) * multiplier;
    const int64_t nudge = product >= 0 ? int64_t{1} << 30 : 1 - (int64_t{1} << 30);
    const int64_t high = (product + nudge) / (int64_t{1} << 31), mask = (int64_t{1} << right) - 1;
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0 ? 1 : 0) ? 1 : 0);
}

int64_t result_of(const DrawnOperands &o, int64_t sum, int64_t channel) {
    if (o.bounds.empty()) return sum;
    double number = 0;
    if (o.scale.empty()) {
        number = double(litert(sum, o.multiplier[channel], o.shift[channel]));
    } else {
        number = std::nearbyint(double(float(sum) * o.scale[channel]));
    }
    return static_cast<int64_t>(
        std::clamp(number + double(o.output_zero_point[0]), double(o.bounds[0]), double(o.bounds[1])));
}

// As runtime/kiln.h has it. In double, products and sums of two numbers of f32 are as good as exact, so each is rounded once.
int64_t added(const DrawnOperands &o, int64_t number, int64_t addend) {
    double sum = 0;
    if (o.addition_factors.empty()) {
        const auto scaled = [&](int64_t x, int i) { return litert(x, o.addition_multiplier[i], o.addition_shift[i]); };
        const int64_t of_number = scaled((number - o.output_zero_point[0]) * (1 << 20), 0),
                      of_addend = scaled((addend - o.addend_zero_point[0]) * (1 << 20), 1);
        sum = double(scaled(of_number + of_addend, 2));
    } else {
        const auto of_number = float(double(number) * double(o.addition_factors[0])),
                   of_addend = float(double(addend) * double(o.addition_factors[1]));
        const auto both = float(double(of_number) + double(of_addend));
        sum = std::nearbyint(double(float(double(both) + double(o.addition_factors[2]))));
    }
    return static_cast<int64_t>(
        std::clamp(sum + double(o.addition_zero_point[0]), double(o.addition_bounds[0]), double(o.addition_bounds[1])));
}

template<typename T>
std::vector<char> bytes_of(const std::vector<int64_t> &values) {
    std::vector<char> bytes(values.size() * sizeof(T));
    for (size_t i = 0; i < values.size(); i++) {
        const auto value = static_cast<T>(values[i]);
        std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
    return bytes;
}

std::vector<char> stored(const std::vector<int64_t> &values, int32_t dtype) {
    return dtype == KILN_I32 ? bytes_of<int32_t>(values) : bytes_of<uint8_t>(values);
}

std::vector<int64_t> expected(const kiln_descriptor &d, const DrawnOperands &o) {
    std::vector<int64_t> results;
    for (int64_t y = 0; y < output_extent(d, 0); y++) {
        for (int64_t x = 0; x < output_extent(d, 1); x++) {
            for (int64_t c = 0; c < d.output_channels; c++) {
                const int64_t result = result_of(o, sum_at(d, o, y, x, c), c);
                results.push_back(o.addend.empty() ? result : added(o, result, o.addend[results.size()]));
            }
        }
    }
    return results;
}

// The memory of a call, and what points there.
struct Call {
    Call(const kiln_descriptor &d, const DrawnOperands &o) {
        const int64_t input[] = {1, d.spatial[0], d.spatial[1], d.channels};
        const int64_t weights[] = {d.kernel[0], d.kernel[1], d.channels / d.feature_group_count, d.output_channels};
        const int64_t output[] = {1, output_extent(d, 0), output_extent(d, 1), d.output_channels};
        kiln_arguments_init(&arguments);
        arguments.input = tensor(stored(o.input, d.dtype), d.dtype, 4, input);
        arguments.weights = tensor(stored(o.weights, d.kernel_dtype), d.kernel_dtype, 4, weights);
        const std::pair<const std::vector<int64_t> &, kiln_tensor &> integers[] = {
            {o.bias, arguments.bias},
            {o.input_zero_point, arguments.input_zero_point},
            {o.kernel_zero_point, arguments.kernel_zero_point},
            {o.multiplier, arguments.multiplier},
            {o.shift, arguments.shift},
            {o.output_zero_point, arguments.output_zero_point},
            {o.bounds, arguments.result_bounds},
            {o.addend_zero_point, arguments.addend_zero_point},
            {o.addition_multiplier, arguments.addition_multiplier},
            {o.addition_shift, arguments.addition_shift},
            {o.addition_zero_point, arguments.addition_zero_point},
            {o.addition_bounds, arguments.addition_bounds}};
        for (const auto &[values, place] : integers) {
            const auto count = static_cast<int64_t>(values.size());
            if (count > 0) place = tensor(stored(values, KILN_I32), KILN_I32, 1, &count);
        }
        if (!o.scale.empty()) arguments.scale = floats(o.scale);
        if (!o.addition_factors.empty()) arguments.addition_factors = floats(o.addition_factors);
        if (!o.addend.empty()) arguments.addend = tensor(stored(o.addend, d.output_dtype), d.output_dtype, 4, output);
        const size_t element = d.output_dtype == KILN_I32 ? 4 : 1;
        const int64_t results = output[1] * output[2] * output[3];
        arguments.output =
            tensor(std::vector<char>(static_cast<size_t>(results) * element, 0x5a), d.output_dtype, 4, output);
    }

    kiln_tensor tensor(std::vector<char> bytes, int32_t dtype, int32_t rank, const int64_t *shape) {
        memory.push_back(std::move(bytes));
        return kiln_tensor_dense(memory.back().data(), dtype, rank, shape);
    }
    kiln_tensor floats(const std::vector<float> &numbers) {
        std::vector<char> bytes(numbers.size() * sizeof(float));
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
        const auto count = static_cast<int64_t>(numbers.size());
        return tensor(std::move(bytes), KILN_F32, 1, &count);
    }
    const std::vector<char> &result() const { return memory.back(); }

    std::vector<std::vector<char>> memory;
    kiln_arguments arguments;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const FakePackage package;
    FuzzInput input(data, size);
    const kiln_descriptor descriptor = take_descriptor(input);
    if (output_extent(descriptor, 0) == 0 || output_extent(descriptor, 1) == 0) return 0;
    const DrawnOperands operands(input, descriptor);
    kiln_package any_sizes = **package;
    any_sizes.fallback = make_fallback;
    kiln_fallback memory;
    const kiln_kernel *kernel = nullptr;
    KILN_FUZZ_EXPECT(kiln_find_or_fallback(&any_sizes, &descriptor, &memory, &kernel).code == KILN_OK);
    Call call(descriptor, operands);
    std::vector<char> workspace(kiln_workspace_bytes(kernel, 1));
    call.arguments.workspace = workspace.data(), call.arguments.workspace_bytes = workspace.size();
    const std::vector<char> before = call.result();
    const kiln_status status = kiln_run(kernel, &call.arguments);
    KILN_FUZZ_EXPECT(status.code == (operands.are_allowed ? KILN_OK : KILN_BAD_VALUE));
    if (!operands.are_allowed) {
        KILN_FUZZ_EXPECT(call.result() == before);
        return 0;
    }
    KILN_FUZZ_EXPECT(call.result() == stored(expected(descriptor, operands), descriptor.output_dtype));
    return 0;
}
