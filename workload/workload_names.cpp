// What the values of a workload's fields are called, and back.
#include <cmath>

#include "workload/number_text.h"
#include "workload/workload.h"

namespace kiln {
namespace {

template<typename T>
struct Name {
    T value;
    std::string_view text;
};

// Persistent names. They are in every database and package: entries are added, never changed.
constexpr Name<Operation> operation_stems[] = {
    {Operation::space_to_depth, "space_to_depth"},
    {Operation::depth_to_space, "depth_to_space"},
    {Operation::layout_transform, "layout_transform"},
    {Operation::winograd_input_transform, "winograd_input_transform"},
    {Operation::winograd_filter_transform, "winograd_filter_transform"},
    {Operation::winograd_output_transform, "winograd_output_transform"},
};
constexpr Name<DType> dtypes[] = {{DType::f32, "f32"}, {DType::f16, "f16"}, {DType::bf16, "bf16"}, {DType::i8, "i8"}};
constexpr Name<KernelLayout> kernel_layouts[] = {{KernelLayout::hwio, "HWIO"}, {KernelLayout::hwoi, "HWOI"}};
constexpr Name<SpecialValues> special_values_names[] = {{SpecialValues::finite, "finite"},
                                                        {SpecialValues::exact, "exact"}};

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

}  // namespace

std::string_view name(DType dtype) { return lookup(dtypes, dtype); }

std::string name(const ActivationLayout &layout) {
    switch (layout.kind) {
        case ActivationLayout::Kind::nhwc:
            return "NHWC";
        case ActivationLayout::Kind::nchw:
            return "NCHW";
        case ActivationLayout::Kind::nchwc:
            return "NCHW" + std::to_string(layout.block) + "c";
    }
    return "?";
}

std::string_view name(KernelLayout layout) { return lookup(kernel_layouts, layout); }
std::string_view name(SpecialValues value) { return lookup(special_values_names, value); }

std::string name(const EpilogueStep &step) {
    switch (step.kind) {
        case EpilogueStep::Kind::bias:
            return "bias";
        case EpilogueStep::Kind::add:
            return "add";
        case EpilogueStep::Kind::relu:
            return "relu";
        case EpilogueStep::Kind::clamp:
            return "clamp:" + float_text(step.lo) + ":" + float_text(step.hi);
    }
    return "?";
}

std::string op_name(const Workload &w) {
    const std::string stem = "conv" + std::to_string(w.spatial_rank) + "d";
    switch (w.op) {
        case Operation::conv:
            return stem;
        case Operation::conv_backprop_input:
            return stem + "_backprop_input";
        case Operation::conv_backprop_kernel:
            return stem + "_backprop_kernel";
        default:
            return std::string(lookup(operation_stems, w.op));
    }
}

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

std::optional<EpilogueStep> parse_epilogue_step(std::string_view text) {
    using Kind = EpilogueStep::Kind;
    if (text == "bias") return EpilogueStep{Kind::bias};
    if (text == "add") return EpilogueStep{Kind::add};
    if (text == "relu") return EpilogueStep{Kind::relu};
    const auto parts = split(text, ':');
    if (parts.size() != 3 || parts[0] != "clamp") return std::nullopt;
    const auto lo = parse_float(parts[1]), hi = parse_float(parts[2]);
    if (!lo || !hi || std::isnan(*lo) || std::isnan(*hi)) return std::nullopt;
    return EpilogueStep{Kind::clamp, *lo, *hi};
}

std::optional<OperationName> parse_operation(std::string_view text) {
    if (const auto op = lookup(operation_stems, text)) return OperationName{*op, is_winograd_transform(*op) ? 2 : 0};
    if (text.size() < 6 || !text.starts_with("conv") || text[4] < '1' || text[4] > '3' || text[5] != 'd') return {};
    const int rank = text[4] - '0';
    const std::string_view rest = text.substr(6);
    if (rest.empty()) return OperationName{Operation::conv, rank};
    if (rest == "_backprop_input") return OperationName{Operation::conv_backprop_input, rank};
    if (rest == "_backprop_kernel") return OperationName{Operation::conv_backprop_kernel, rank};
    return std::nullopt;
}

}  // namespace kiln
