#include "check/convolution_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/lists/field_values.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// Layouts, dtypes and epilogue of a convolution, as the suite calls them.
struct Forms {
    std::string input_layout, output_layout, kernel_layout;
    std::string operand_dtype, accumulate_dtype, output_dtype;
    bool bias = false, relu = false;
};

Forms read_forms(JsonFields &a) {
    return {.input_layout = a.get<std::string>("input_layout"),
            .output_layout = a.get<std::string>("output_layout"),
            .kernel_layout = a.get<std::string>("kernel_layout"),
            .operand_dtype = a.get<std::string>("operand_dtype"),
            .accumulate_dtype = a.get<std::string>("accumulate_dtype"),
            .output_dtype = a.get<std::string>("output_dtype"),
            .bias = a.get_or("bias", false),
            .relu = a.get_or("relu", false)};
}

constexpr SuiteField xla_window[] = {
    {"window_strides", "strides"},
    {"padding", "padding"},
    {"lhs_dilation", "lhs_dilation"},
    {"rhs_dilation", "rhs_dilation"},
    {"feature_group_count", "feature_group_count"},
    {"batch_group_count", "batch_group_count"},
};

Mapped map_forms(const Forms &forms, Workload *w) {
    if (w->spatial_rank < 1 || w->spatial_rank > 3) {
        return Unmapped{fmt::format("{} spatial dimensions; kiln knows 1 to 3", w->spatial_rank)};
    }
    const auto in = parse_suite_layout(forms.input_layout, w->spatial_rank);
    const auto out = parse_suite_layout(forms.output_layout, w->spatial_rank);
    const auto window = parse_suite_kernel_layout(forms.kernel_layout, w->spatial_rank);
    if (!in || !out || !window) {
        return Unmapped{fmt::format("layouts {}, {}, {} are not all known", forms.input_layout, forms.kernel_layout,
                                    forms.output_layout)};
    }
    const auto dtype = parse_suite_dtype(forms.operand_dtype), result = parse_suite_dtype(forms.output_dtype);
    const bool integers = dtype && result && (is_integer(*dtype) || is_integer(*result));
    if (!dtype || !result || integers || forms.accumulate_dtype != "float32") {
        return Unmapped{
            fmt::format("operands {}, sums {}, output {}: kiln sums in float32 and knows float32, float16, "
                        "bfloat16 and int8",
                        forms.operand_dtype, forms.accumulate_dtype, forms.output_dtype)};
    }
    w->input_layout = *in, w->output_layout = *out, w->kernel_layout = *window;
    w->dtype = *dtype, w->output_dtype = *result;
    if (forms.bias) w->epilogue.push_back({EpilogueStep::Kind::bias});
    if (forms.relu) w->epilogue.push_back({EpilogueStep::Kind::relu});
    return {};
}

// The three tensors of a convolution. A gradient has the shape of its forward operand.
struct Names {
    std::string_view x, k, y;
};
Names names_of(Operation op) {
    if (op == Operation::conv_backprop_input) return {"dx", "k", "dy"};
    if (op == Operation::conv_backprop_kernel) return {"x", "dk", "dy"};
    return {"x", "k", "y"};
}

// Takes the shapes from the tensors and checks that all things said twice agree.
void take_shapes(const Names &names, JsonFields &a, CaseTensors &tensors, Workload *w) {
    const CaseTensor *kernel = tensors.find(names.k);
    if (!kernel || !tensors.find(names.x) || !tensors.find(names.y)) return;
    w->input = tensors.logical(names.x, w->input_layout, w->spatial_rank);
    w->kernel = kernel->tensor.shape;
    if (w->kernel_layout == KernelLayout::hwoi && w->kernel.size() >= 2) {
        std::swap(w->kernel.rbegin()[0], w->kernel.rbegin()[1]);
    }
    if (Status s = validate(*w); !s) a.fail("attributes and shapes", s.error().message);
    if (!a.ok()) return;
    tensors.check_attributes(*w);
    const auto stored = [&](const Shape &logical, const ActivationLayout &layout) {
        TensorForm form;
        form.stored = activation_dimensions(logical, layout);
        return form.shape();
    };
    tensors.check_shape(names.x, stored(w->input, w->input_layout));
    tensors.check_shape(names.y, stored(output_shape(*w), w->output_layout));
    if (has_step(w->epilogue, EpilogueStep::Kind::bias)) tensors.check_shape("bias", {w->kernel.back()});
}

// Precondition: the shapes were taken without a problem.
void take_files(const Names &names, JsonFields &a, CaseTensors &tensors, ConformanceCase *result) {
    const Workload &w = *result->workload;
    const auto file = [&](std::string_view name) { return tensors.find(name)->tensor; };
    const bool by_input = w.op == Operation::conv_backprop_input, by_kernel = w.op == Operation::conv_backprop_kernel;
    result->first = file(by_input ? names.y : names.x);
    result->second = file(by_kernel ? names.y : names.k);
    result->expected = file(by_input ? names.x : by_kernel ? names.k : names.y);
    if (has_step(w.epilogue, EpilogueStep::Kind::bias)) result->bias = file("bias");
    for (const auto &operand : {*result->first, *result->second}) {
        if (operand.dtype != w.dtype) {
            a.fail("operand_dtype",
                   fmt::format("is {}, but {} is not", a.get<std::string>("operand_dtype"), operand.path));
        }
    }
    if (result->expected.dtype != w.output_dtype) {
        a.fail("output_dtype",
               fmt::format("is {}, but {} is not", a.get<std::string>("output_dtype"), result->expected.path));
    }
}

}  // namespace

Mapped map_convolution(Operation op, JsonFields &attributes, CaseTensors &tensors, ConformanceCase *result) {
    Workload w;
    w.op = op;
    read_window(attributes, xla_window, &w);
    const Forms forms = read_forms(attributes);
    if (!attributes.ok()) return {};
    if (Mapped unmapped = map_forms(forms, &w)) return unmapped;
    const Names names = names_of(op);
    take_shapes(names, attributes, tensors, &w);
    if (!attributes.ok()) return {};
    result->workload = std::move(w);
    take_files(names, attributes, tensors, result);
    return {};
}

}  // namespace kiln
