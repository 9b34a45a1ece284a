#include "catalog/conv_checks.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

#include "catalog/tensor_checks.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// Saturates, so that products of several extents can be compared.
int64_t product(std::initializer_list<int64_t> factors) {
    int64_t result = 1;
    for (int64_t f : factors) {
        if (__builtin_mul_overflow(result, f, &result)) return std::numeric_limits<int64_t>::max();
    }
    return result;
}

Status floating_point(const Workload &w) {
    for (const auto &[field, dtype] : {std::pair{"dtype", w.dtype}, {"output_dtype", w.output_dtype}}) {
        if (is_integer(dtype)) {
            return unsupported(std::string(field) + " " + std::string(name(dtype)) +
                               " is not what this algorithm computes; needs f32, f16 or bf16");
        }
    }
    return {};
}

Status something_to_compute(const Workload &w) {
    return has_empty_result(w) ? unsupported(std::string(empty_result_text)) : Status();
}

}  // namespace

Status copies_fit(const ConvLoops &s) {
    int64_t positions = 1;
    for (int d = 0; d < 3; d++) positions = product({positions, s.reach(s.output[d], d)});
    if (product({positions, s.all_input_channels(), s.batch}) > most_elements) {
        return unsupported("the dilated, padded input has more than 2^31 elements, which 32-bit indices cannot reach");
    }
    const int64_t sums = product({s.output[0], s.output[1], s.output[2], s.output_channels, s.batch});
    if (s.scatters() && sums > most_elements) {
        return unsupported("the sums of all phases have more than 2^31 elements, which 32-bit indices cannot reach");
    }
    if (product({s.taps(), s.input_channels, s.output_channels}) > most_elements) {
        return unsupported("packed weights have more than 2^31 elements, which 32-bit indices cannot reach");
    }
    return {};
}

Status convolution_applies(const Workload &w, std::initializer_list<Operation> operations) {
    if (std::find(operations.begin(), operations.end(), w.op) == operations.end()) {
        return unsupported("operation " + op_name(w) + " is not what this algorithm computes");
    }
    if (Status s = floating_point(w); !s) return s;
    return result_can_be_computed(w);
}

Status result_can_be_computed(const Workload &w) {
    if (Status s = something_to_compute(w); !s) return s;
    return fits_32_bits(w);
}

Status fits_32_bits(const Workload &w) {
    const Signature tensors = signature(w);
    for (const TensorForm &operand : tensors.operands) {
        if (Status s = fits_32_bits(operand); !s) return s;
    }
    if (Status s = fits_32_bits(tensors.result); !s) return s;
    constexpr int64_t limit = std::numeric_limits<int32_t>::max();
    const std::vector<int64_t> output = output_shape(w);
    const std::vector<int64_t> windows = window_of(w);
    for (int d = 0; d < w.spatial_rank; d++) {
        const int64_t window = (windows[d] - 1) * w.rhs_dilation[d], dilated = (w.input[d + 1] - 1) * w.lhs_dilation[d];
        const int64_t reach = std::max<int64_t>(0, output[d + 1] - 1) * w.strides[d] + window;
        if (std::max(reach, dilated + window) + std::abs(w.padding[d].lo) + std::abs(w.padding[d].hi) > limit) {
            return unsupported("coordinates of the padded input need more than 32 bits");
        }
    }
    return {};
}

}  // namespace kiln
