#include "runtime/quantized_values.h"

#include <stdint.h>

namespace kiln {
namespace {

// Every value is looked at, so that compilers make vectors of the loop.
bool all_between(const void *data, int64_t count, int64_t lo, int64_t hi) {
    const auto *values = static_cast<const int32_t *>(data);
    const auto smallest = static_cast<int32_t>(lo), largest = static_cast<int32_t>(hi);
    int32_t outside = 0;
    for (int64_t i = 0; i < count; i++) outside |= (values[i] < smallest) | (values[i] > largest);
    return outside == 0;
}

bool all_of_dtype(const void *data, int64_t count, int32_t dtype) {
    return dtype == KILN_U8 ? all_between(data, count, 0, 255) : all_between(data, count, -128, 127);
}

bool are_scales(const void *data, int64_t count) {
    const auto *values = static_cast<const float *>(data);
    int32_t outside = 0;
    for (int64_t i = 0; i < count; i++) outside |= !(values[i] >= 0 && values[i] <= 3.4028234663852886e38f);
    return outside == 0;
}

// Also false for NaN.
bool are_factors(const void *data, int64_t count) {
    const auto *values = static_cast<const float *>(data);
    int32_t outside = 0;
    for (int64_t i = 0; i < count; i++) outside |= !(values[i] >= -0x1p64f && values[i] <= 0x1p64f);
    return outside == 0;
}

int64_t largest_weight(const kiln_descriptor &d) {
    return d.kernel_dtype == KILN_I8 && d.kernel_zero_point == 0 ? 128 : 255;
}

}  // namespace

int64_t largest_product_sum(const kiln_descriptor &d) {
    int64_t terms = d.channels / d.feature_group_count;
    for (int i = 0; i < d.spatial_rank; i++) terms *= d.kernel[i];
    return terms * 255 * largest_weight(d);
}

int64_t largest_bias(const kiln_descriptor &d) { return INT32_MAX - largest_product_sum(d); }

bool values_hold(const kiln_descriptor &d, int operand, const void *data) {
    if (!is_quantized(d)) return true;
    const int64_t channels = d.output_channels;
    switch (operand) {
        case KILN_BIAS:
            return all_between(data, channels, -largest_bias(d), largest_bias(d));
        case KILN_INPUT_ZERO_POINT:
            return all_of_dtype(data, 1, d.dtype);
        case KILN_KERNEL_ZERO_POINT:
            return all_of_dtype(data, channels, d.kernel_dtype);
        case KILN_MULTIPLIER:
            return all_between(data, channels, 0, INT32_MAX);
        case KILN_SHIFT:
            return all_between(data, channels, -31, 30);
        case KILN_SCALE:
            return are_scales(data, channels);
        case KILN_ADDITION_MULTIPLIER:
            return all_between(data, 3, 0, INT32_MAX);
        case KILN_ADDITION_SHIFT:
            return all_between(data, 3, -31, 0);
        case KILN_ADDITION_FACTORS:
            return are_factors(data, 3);
        case KILN_OUTPUT_ZERO_POINT:
        case KILN_ADDEND_ZERO_POINT:
        case KILN_ADDITION_ZERO_POINT:
            return all_of_dtype(data, 1, d.output_dtype);
        case KILN_RESULT_BOUNDS:
        case KILN_ADDITION_BOUNDS: {
            const auto *bounds = static_cast<const int32_t *>(data);
            return all_of_dtype(data, 2, d.output_dtype) && bounds[0] <= bounds[1];
        }
        default:
            return true;
    }
}

}  // namespace kiln
