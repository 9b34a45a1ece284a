#include "check/quantized_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/lists/field_values.h"
#include "workload/quantization/quantization.h"
#include "workload/signature.h"
#include "workload/workload_fields.h"

namespace kiln {
namespace {

constexpr SuiteField litert_window[] = {{"strides", "strides"}, {"padding", "padding"}, {"dilations", "rhs_dilation"}};

// Depthwise weights are 1, R, S, O: those of HWIO with one input channel a group. Dense ones are O, R, S, I.
void take_kernel(bool depthwise, JsonFields &a, const CaseTensor &weights, Workload *w) {
    Shape shape = weights.tensor.shape;
    if (shape.size() != 4 || (depthwise && shape[0] != 1)) {
        return a.fail("w", depthwise ? "needs the shape 1, R, S, O" : "needs the shape O, R, S, I");
    }
    w->kernel = depthwise ? Shape{shape[1], shape[2], 1, shape[3]} : Shape{shape[1], shape[2], shape[3], shape[0]};
    w->feature_group_count = depthwise ? w->input.back() : a.get_or<int64_t>("groups", 1);
}

Mapped map_dtypes(const CaseTensor &x, const CaseTensor &weights, const CaseTensor &y, Workload *w) {
    const auto in = parse_suite_dtype(x.dtype), kernel = parse_suite_dtype(weights.dtype),
               out = parse_suite_dtype(y.dtype);
    if (!in || !kernel || !out)
        return Unmapped{fmt::format("dtypes {}, {}, {} are not all known", x.dtype, weights.dtype, y.dtype)};
    w->dtype = *in, w->kernel_dtype = *kernel, w->output_dtype = *out;
    return {};
}

// Numbers of the attributes that are operands.
void take_numbers(JsonFields &a, ConformanceCase *result) {
    const Workload &w = *result->workload;
    const auto number = [&](std::string_view name) { return static_cast<int32_t>(a.get<int64_t>(name)); };
    result->numbers[Role::input_zero_point] = {number("input_zero_point")};
    result->numbers[Role::output_zero_point] = {number("output_zero_point")};
    result->numbers[Role::result_bounds] = {number("activation_min"), number("activation_max")};
    if (w.kernel_zero_point) {
        result->numbers[Role::kernel_zero_point] =
            std::vector<int32_t>(static_cast<size_t>(w.kernel.back()), number("weight_zero_point"));
    }
}

// Precondition: the workload is valid.
void take_files(bool depthwise, CaseTensors &tensors, ConformanceCase *result) {
    const Workload &w = *result->workload;
    for (const std::string_view name : {"multiplier", "shift"}) tensors.check_shape(name, {w.kernel.back()});
    tensors.check_shape("y", output_shape(w));
    result->first = tensors.find("x")->tensor;
    result->second = tensors.find("w")->tensor;
    result->outputs_first = !depthwise;
    result->expected = tensors.find("y")->tensor;
    if (has_step(w.epilogue, EpilogueStep::Kind::bias)) {
        tensors.check_shape("bias", {w.kernel.back()});
        result->bias = tensors.find("bias")->tensor;
    }
    result->others[Role::multiplier] = tensors.find("multiplier")->tensor;
    result->others[Role::shift] = tensors.find("shift")->tensor;
}

}  // namespace

Mapped map_quantized_convolution(bool depthwise, JsonFields &a, CaseTensors &tensors, ConformanceCase *result) {
    Workload w;
    read_window(a, litert_window, &w);
    const CaseTensor *x = tensors.find("x"), *weights = tensors.find("w"), *y = tensors.find("y");
    if (!tensors.find("multiplier") || !tensors.find("shift") || !a.ok()) return {};
    if (w.spatial_rank != 2) return Unmapped{fmt::format("{} spatial dimensions; needs 2", w.spatial_rank)};
    w.input = tensors.logical("x", w.input_layout, w.spatial_rank);
    take_kernel(depthwise, a, *weights, &w);
    w.kernel_zero_point = a.get_or<int64_t>("weight_zero_point", 0) != 0;
    if (!a.ok()) return {};
    if (Mapped unmapped = map_dtypes(*x, *weights, *y, &w)) return unmapped;
    if (tensors.has("bias")) w.epilogue.push_back({EpilogueStep::Kind::bias});
    w.epilogue.push_back({EpilogueStep::Kind::requantize_litert});
    fill_defaults(&w);
    if (Status s = validate(w); !s) a.fail("attributes and shapes", s.error().message);
    if (!a.ok()) return {};
    tensors.check_attributes(w);
    result->workload = std::move(w);
    take_numbers(a, result);
    take_files(depthwise, tensors, result);
    return {};
}

}  // namespace kiln
