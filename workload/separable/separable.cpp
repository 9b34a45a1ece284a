#include "workload/separable/separable.h"

#include <utility>

namespace kiln {

Workload depthwise_part(const Workload &w) {
    std::vector<int64_t> kernel = w.depthwise;
    kernel.insert(kernel.end(), {1, w.input.back()});
    Workload part = convolution(w.input, std::move(kernel));
    part.dtype = w.dtype;
    part.strides = w.strides;
    part.padding = w.padding;
    part.rhs_dilation = w.rhs_dilation;
    part.feature_group_count = w.input.back();
    part.input_layout = w.input_layout;
    part.kernel_layout = w.kernel_layout;
    part.special_values = w.special_values;
    return part;
}

Workload pointwise_part(const Workload &w) {
    std::vector<int64_t> input = output_shape(w);
    input.back() = w.input.back();
    Workload part = convolution(std::move(input), w.kernel);
    part.dtype = w.dtype;
    part.output_dtype = w.output_dtype;
    part.output_layout = w.output_layout;
    part.kernel_layout = w.kernel_layout;
    part.epilogue = w.epilogue;
    part.prologue = w.prologue;
    part.special_values = w.special_values;
    return part;
}

}  // namespace kiln
