// What the values of a workload's fields are called, in texts and in the C interface, and back.
#include "runtime/kiln.h"
#include "workload/number_text.h"
#include "workload/workload.h"

namespace kiln {
namespace {

template<typename T>
struct Name {
    T value;
    std::string_view text;
    int32_t code;  // in runtime/kiln.h
};

// Persistent names. They are in every database and package: entries are added, never changed.
constexpr Name<Operation> operations[] = {
    {Operation::space_to_depth, "space_to_depth", KILN_SPACE_TO_DEPTH},
    {Operation::depth_to_space, "depth_to_space", KILN_DEPTH_TO_SPACE},
    {Operation::layout_transform, "layout_transform", KILN_LAYOUT_TRANSFORM},
    {Operation::winograd_input_transform, "winograd_input_transform", KILN_WINOGRAD_INPUT_TRANSFORM},
    {Operation::winograd_filter_transform, "winograd_filter_transform", KILN_WINOGRAD_FILTER_TRANSFORM},
    {Operation::winograd_output_transform, "winograd_output_transform", KILN_WINOGRAD_OUTPUT_TRANSFORM},
    {Operation::nest, "nest", KILN_NEST},
};
constexpr Name<Operation> convolution_names[] = {
    // after "conv2d"
    {Operation::conv, "", KILN_CONV},
    {Operation::conv_backprop_input, "_backprop_input", KILN_CONV_BACKPROP_INPUT},
    {Operation::conv_backprop_kernel, "_backprop_kernel", KILN_CONV_BACKPROP_KERNEL},
};
constexpr Name<DType> dtypes[] = {{DType::f32, "f32", KILN_F32},    {DType::f16, "f16", KILN_F16},
                                  {DType::bf16, "bf16", KILN_BF16}, {DType::i8, "i8", KILN_I8},
                                  {DType::i32, "i32", KILN_I32},    {DType::u8, "u8", KILN_U8}};
using LayoutKind = ActivationLayout::Kind;
constexpr Name<LayoutKind> layout_kinds[] = {{LayoutKind::nhwc, "NHWC", KILN_NHWC},
                                             {LayoutKind::nchw, "NCHW", KILN_NCHW},
                                             {LayoutKind::nchwc, "NCHW<b>c", KILN_NCHWC}};
constexpr Name<KernelLayout> kernel_layouts[] = {{KernelLayout::hwio, "HWIO", KILN_HWIO},
                                                 {KernelLayout::hwoi, "HWOI", KILN_HWOI}};
constexpr Name<SpecialValues> special_values_names[] = {{SpecialValues::finite, "finite", KILN_FINITE},
                                                        {SpecialValues::exact, "exact", KILN_EXACT}};

template<typename T, size_t N>
std::string_view lookup(const Name<T> (&table)[N], T value) {
    for (const Name<T> &row : table) {
        if (row.value == value) return row.text;
    }
    return "?";
}

template<typename T, size_t N>
std::optional<T> lookup(const Name<T> (&table)[N], std::string_view text) {
    for (const Name<T> &row : table) {
        if (row.text == text) return row.value;
    }
    return std::nullopt;
}

template<typename T, size_t N>
int32_t code(const Name<T> (&table)[N], T value) {
    for (const Name<T> &row : table) {
        if (row.value == value) return row.code;
    }
    return 0;
}

}  // namespace

std::string_view name(DType dtype) { return lookup(dtypes, dtype); }

std::string name(const ActivationLayout &layout) {
    if (layout.kind == LayoutKind::nchwc) return "NCHW" + std::to_string(layout.block) + "c";
    return std::string(lookup(layout_kinds, layout.kind));
}

std::string_view name(KernelLayout layout) { return lookup(kernel_layouts, layout); }
std::string_view name(SpecialValues value) { return lookup(special_values_names, value); }

std::string op_name(const Workload &w) {
    if (!is_convolution(w.op)) return std::string(lookup(operations, w.op));
    return "conv" + std::to_string(w.spatial_rank) + "d" + std::string(lookup(convolution_names, w.op));
}

int32_t interface_code(Operation op) { return is_convolution(op) ? code(convolution_names, op) : code(operations, op); }
int32_t interface_code(DType dtype) { return code(dtypes, dtype); }
int32_t interface_code(ActivationLayout::Kind kind) { return code(layout_kinds, kind); }
int32_t interface_code(KernelLayout layout) { return code(kernel_layouts, layout); }
int32_t interface_code(SpecialValues value) { return code(special_values_names, value); }

std::optional<DType> parse_dtype(std::string_view text) { return lookup(dtypes, text); }

std::optional<ActivationLayout> parse_activation_layout(std::string_view text) {
    if (text == "NHWC") return ActivationLayout{};
    if (text == "NCHW") return ActivationLayout{ActivationLayout::Kind::nchw, 0};
    if (text.size() > 5 && text.starts_with("NCHW") && text.back() == 'c') {
        const auto block = parse_integer(text.substr(4, text.size() - 5));
        if (block && *block >= 2 && *block <= 1024) {
            return ActivationLayout{ActivationLayout::Kind::nchwc, static_cast<int>(*block)};
        }
    }
    return std::nullopt;
}

std::optional<KernelLayout> parse_kernel_layout(std::string_view text) { return lookup(kernel_layouts, text); }
std::optional<SpecialValues> parse_special_values(std::string_view text) { return lookup(special_values_names, text); }

std::optional<OperationName> parse_operation(std::string_view text) {
    if (const auto op = lookup(operations, text)) return OperationName{*op, is_winograd_transform(*op) ? 2 : 0};
    if (text.size() < 6 || !text.starts_with("conv") || text[4] < '1' || text[4] > '3' || text[5] != 'd') return {};
    const auto op = lookup(convolution_names, text.substr(6));
    return op ? std::optional(OperationName{*op, text[4] - '0'}) : std::nullopt;
}

}  // namespace kiln
