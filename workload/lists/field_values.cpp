#include "workload/lists/field_values.h"

#include <cmath>

#include "workload/tensor_layout.h"

namespace kiln {
namespace {

using Problem = FieldProblem;

constexpr std::string_view known_dtypes = "one of f32, f16, bf16, i8, i32, u8";
constexpr std::string_view known_layouts = "one of NHWC, NCHW, NCHW<b>c with b from 2 to 1024";

Problem read(const Json &value, const WorkloadField &field, int64_t *result) {
    return read_integer(value, field.smallest, largest_size, result);
}

Problem read(const Json &value, const WorkloadField &field, std::vector<int64_t> *result) {
    result->clear();
    if (field.repeats && value.is_number()) return read(value, field, &result->emplace_back());
    if (!value.is_array() || value.empty()) {
        return expected(field.smallest > 0 ? "a list of positive integers" : "a list of integers from 0", value);
    }
    for (const Json &entry : value) {
        if (Problem p = read(entry, field, &result->emplace_back())) return p;
    }
    return {};
}

Problem read(const Json &value, const WorkloadField &field, std::vector<std::vector<int64_t>> *result) {
    if (!value.is_array() || value.empty()) return expected("a list of shapes [[1, 56, 56, 64], ...]", value);
    result->clear();
    for (const Json &shape : value) {
        if (Problem p = read(shape, field, &result->emplace_back())) return p;
    }
    return {};
}

Problem read(const Json &value, const WorkloadField &, std::vector<Padding> *result) {
    constexpr std::string_view form = "a list of pairs [[lo, hi], ...]";
    if (!value.is_array() || value.empty()) return expected(form, value);
    result->clear();
    for (const Json &pair : value) {
        if (!pair.is_array() || pair.size() != 2) return expected(form, value);
        Padding &padding = result->emplace_back();
        if (Problem p = read_integer(pair[0], -largest_size, largest_size, &padding.lo)) return p;
        if (Problem p = read_integer(pair[1], -largest_size, largest_size, &padding.hi)) return p;
    }
    return {};
}

bool has_finite_bounds(const EpilogueStep &clamp) { return std::isfinite(clamp.lo) && std::isfinite(clamp.hi); }

// "bias", "add", "relu", "clamp:lo:hi", ...
std::string known_steps() {
    std::string names;
    for (const EpilogueForm &form : epilogue_forms()) names += (names.empty() ? "\"" : ", \"") + form.usage() + "\"";
    return "a list of " + names + R"(, {"clamp": [lo, hi]})";
}

// A text as in a key, or {"clamp": [0, 6]}.
std::optional<EpilogueStep> step_of(const Json &value) {
    if (value.is_string()) return parse_epilogue_step(value.get_ref<const std::string &>());
    if (!value.is_object() || value.size() != 1 || !value.contains("clamp")) return std::nullopt;
    const Json &bounds = value["clamp"];
    if (!bounds.is_array() || bounds.size() != 2 || !bounds[0].is_number() || !bounds[1].is_number())
        return std::nullopt;
    const EpilogueStep step{EpilogueStep::Kind::clamp, bounds[0].get<float>(), bounds[1].get<float>()};
    if (!has_finite_bounds(step)) return std::nullopt;
    return step;
}

Problem read(const Json &value, const WorkloadField &, std::vector<EpilogueStep> *result) {
    if (!value.is_array()) return expected(known_steps(), value);
    result->clear();
    for (const Json &entry : value) {
        const auto step = step_of(entry);
        if (!step) return expected(known_steps(), entry);
        result->push_back(*step);
    }
    return {};
}

Problem read(const Json &value, const WorkloadField &, bool *result) { return read_value(value, result); }

// A text is a layout of layout_transform, or part of a nest, which validate() reads.
Problem read(const Json &value, const WorkloadField &field, std::string *result) {
    if (!field.is_used_by(Operation::layout_transform)) return read_value(value, result);
    if (!read_value(value, result) && parse_tensor_layout(*result)) return {};
    return expected(
        "the axes N, C, HW or O, I, HW in the order of memory, then blocks (NHWC, CHWN, NCHW16c, OIHW, "
        "OIHW16i16o)",
        value);
}

Problem read(const Json &value, const WorkloadField &, DType *result) {
    return read_name(value, parse_dtype, known_dtypes, result);
}
Problem read(const Json &value, const WorkloadField &field, std::vector<DType> *result) {
    if (!value.is_array() || value.empty()) return expected("a list of dtypes [\"u8\", \"f32\", ...]", value);
    result->clear();
    for (const Json &entry : value) {
        if (Problem p = read(entry, field, &result->emplace_back())) return p;
    }
    return {};
}
Problem read(const Json &value, const WorkloadField &, ActivationLayout *result) {
    return read_name(value, parse_activation_layout, known_layouts, result);
}
Problem read(const Json &value, const WorkloadField &, KernelLayout *result) {
    return read_name(value, parse_kernel_layout, "one of HWIO, HWOI", result);
}
Problem read(const Json &value, const WorkloadField &, SpecialValues *result) {
    return read_name(value, parse_special_values, "one of finite, exact", result);
}

Json written(const std::vector<Padding> &pairs) {
    Json list = Json::array();
    for (const Padding &pair : pairs) list.push_back({pair.lo, pair.hi});
    return list;
}

Json written(const std::vector<EpilogueStep> &steps) {
    Json list = Json::array();
    for (const EpilogueStep &step : steps) {
        if (step.kind == EpilogueStep::Kind::clamp && has_finite_bounds(step)) {  // JSON has no infinity
            list.push_back({{"clamp", {step.lo, step.hi}}});
        } else {
            list.push_back(name(step));
        }
    }
    return list;
}

Json written(const std::vector<DType> &dtypes) {
    Json list = Json::array();
    for (const DType dtype : dtypes) list.push_back(name(dtype));
    return list;
}

template<typename T>
Json written(const T &value) {
    if constexpr (requires { name(value); }) {
        return name(value);
    } else {
        return value;
    }
}

}  // namespace

Json field_value(const WorkloadField &field, const Workload &w) {
    return std::visit([&](auto member) { return written(w.*member); }, field.member);
}

FieldProblem read_field(const Json &value, const WorkloadField &field, Workload *w) {
    return std::visit([&](auto member) { return read(value, field, &(w->*member)); }, field.member);
}

}  // namespace kiln
