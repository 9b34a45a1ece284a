#include "check/case_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "workload/lists/field_values.h"
#include "workload/workload_fields.h"

namespace kiln {
namespace {

// Names of spatial dimensions, outermost first, in activations, windows and outputs, by rank.
constexpr std::string_view spatial_names[] = {"", "W", "HW", "DHW"};
constexpr std::string_view window_names[] = {"", "S", "RS", "TRS"};
constexpr std::string_view output_names[] = {"", "Wo", "HoWo", "DoHoWo"};

}  // namespace

std::optional<ActivationLayout> parse_suite_layout(std::string_view text, int rank) {
    const std::string spatial(spatial_names[rank]);
    if (text == "N" + spatial + "C") return ActivationLayout{};
    const std::string first = "NC" + spatial;
    if (!text.starts_with(first)) return {};
    return parse_activation_layout("NCHW" + std::string(text.substr(first.size())));
}

std::optional<KernelLayout> parse_suite_kernel_layout(std::string_view text, int rank) {
    for (std::string_view spatial : {window_names[rank], spatial_names[rank]}) {
        if (text == std::string(spatial) + "IO") return KernelLayout::hwio;
        if (text == std::string(spatial) + "OI") return KernelLayout::hwoi;
    }
    return {};
}

std::optional<DType> parse_suite_dtype(std::string_view text) {
    if (text == "float32") return DType::f32;
    if (text == "float16") return DType::f16;
    if (text == "bfloat16") return DType::bf16;
    if (text == "int8") return DType::i8;
    if (text == "uint8") return DType::u8;
    if (text == "int32") return DType::i32;
    return {};
}

void read_window(JsonFields &attributes, std::span<const SuiteField> fields, Workload *w) {
    for (const auto &[suite_name, name] : fields) {
        const WorkloadField &field = *std::ranges::find(workload_fields(), name, &WorkloadField::name);
        attributes.read(suite_name, [&](const Json &value) { return read_field(value, field, w); });
    }
    w->spatial_rank = static_cast<int>(w->strides.size());
}

const CaseTensor *CaseTensors::find(std::string_view name) {
    const auto found = tensors_.find(std::string(name));
    if (found != tensors_.end()) return &found->second;
    attributes_.fail(name, "the case has no such tensor");
    return nullptr;
}

Shape CaseTensors::logical(std::string_view name, const ActivationLayout &layout, int rank) {
    const Shape nothing(rank + 2, 1);
    const CaseTensor *found = find(name);
    if (!found) return nothing;
    const Shape &s = found->tensor.shape;
    const bool blocked = layout.kind == ActivationLayout::Kind::nchwc;
    const size_t dimensions = rank + 2 + blocked;
    if (s.size() != dimensions) {
        attributes_.fail(name, fmt::format("has {} dimensions; its layout has {}", s.size(), dimensions));
        return nothing;
    }
    if (layout.kind == ActivationLayout::Kind::nhwc) return s;
    Shape shape{s[0]};
    shape.insert(shape.end(), s.begin() + 2, s.begin() + 2 + rank);
    shape.push_back(blocked ? attributes_.get_or("C", s[1] * s.back()) : s[1]);
    return shape;
}

void CaseTensors::check_shape(std::string_view name, const Shape &expected) {
    const CaseTensor *found = find(name);
    if (!found || found->tensor.shape == expected) return;
    attributes_.fail(name, fmt::format("has shape [{}]; attributes and the other tensors make it [{}]",
                                       fmt::join(found->tensor.shape, ", "), fmt::join(expected, ", ")));
}

void CaseTensors::check_attribute(std::string_view name, int64_t value) {
    const auto stated = attributes_.get_or(name, value);
    if (stated == value) return;
    attributes_.fail(name, fmt::format("is {}, but the tensors' shapes make it {}", stated, value));
}

void CaseTensors::check_attributes(const Workload &w) {
    const Shape output = output_shape(w);
    const size_t rank = w.spatial_rank;
    check_attribute("N", w.input[0]);
    check_attribute("C", w.input[rank + 1]);
    check_attribute("KCi", w.kernel[rank]);
    check_attribute("KCo", w.kernel[rank + 1]);
    for (size_t d = 0; d < rank; d++) {
        check_attribute(spatial_names[rank].substr(d, 1), w.input[d + 1]);
        check_attribute(window_names[rank].substr(d, 1), w.kernel[d]);
        check_attribute(output_names[rank].substr(2 * d, 2), output[d + 1]);
    }
}

}  // namespace kiln
