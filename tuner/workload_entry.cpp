#include "tuner/workload_entry.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/workload.h"

namespace kiln {
namespace {

using Json = nlohmann::json;
using Problem = FieldProblem;

std::string shown(const Json &value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

constexpr int64_t largest_size = std::numeric_limits<int32_t>::max();

Problem read_integer(const Json &value, int64_t smallest, int64_t *result) {
    const bool fits = value.is_number_integer() &&
                      (value.is_number_unsigned() ? value.get<uint64_t>() <= static_cast<uint64_t>(largest_size)
                                                  : value.get<int64_t>() >= smallest);
    if (!fits || value.get<int64_t>() < smallest) {
        return expected(fmt::format("an integer from {} to {}", smallest, largest_size), value);
    }
    *result = value.get<int64_t>();
    return {};
}

Problem read_sizes(const Json &value, std::vector<int64_t> *result) {
    if (!value.is_array() || value.empty()) return expected("a list of positive integers", value);
    result->clear();
    for (const Json &entry : value) {
        if (Problem p = read_integer(entry, 1, &result->emplace_back())) return p;
    }
    return {};
}

Problem read_padding(const Json &value, std::vector<Padding> *result) {
    constexpr std::string_view form = "a list of pairs [[lo, hi], ...]";
    if (!value.is_array() || value.empty()) return expected(form, value);
    result->clear();
    for (const Json &pair : value) {
        if (!pair.is_array() || pair.size() != 2) return expected(form, value);
        Padding &padding = result->emplace_back();
        if (Problem p = read_integer(pair[0], -largest_size, &padding.lo)) return p;
        if (Problem p = read_integer(pair[1], -largest_size, &padding.hi)) return p;
    }
    return {};
}

// A value with a name: `parse` is one of runtime/workload.h, `allowed` what it knows.
template<typename T, typename Parse>
Problem read_name(const Json &value, Parse parse, std::string_view allowed, T *result) {
    if (value.is_string()) {
        if (const auto parsed = parse(value.get_ref<const std::string &>())) {
            *result = *parsed;
            return {};
        }
    }
    return expected(allowed, value);
}

constexpr std::string_view known_dtypes = "one of f32, f16, bf16, i8";
constexpr std::string_view known_layouts = "one of NHWC, NCHW, NCHW<b>c with b from 2 to 1024";
constexpr std::string_view known_operations =
    "one of conv1d, conv2d, conv3d, each also with _backprop_input or _backprop_kernel, space_to_depth, "
    "depth_to_space, layout_transform";
constexpr std::string_view known_steps = R"(a list of "bias", "add", "relu", {"clamp": [lo, hi]})";

std::optional<EpilogueStep> read_step(const Json &value) {
    if (value.is_string()) return parse_epilogue_step(value.get_ref<const std::string &>());
    if (!value.is_object() || value.size() != 1 || !value.contains("clamp")) return std::nullopt;
    const Json &bounds = value["clamp"];
    if (!bounds.is_array() || bounds.size() != 2 || !bounds[0].is_number() || !bounds[1].is_number())
        return std::nullopt;
    const EpilogueStep step{EpilogueStep::Kind::clamp, bounds[0].get<float>(), bounds[1].get<float>()};
    if (!std::isfinite(step.lo) || !std::isfinite(step.hi)) return std::nullopt;
    return step;
}

Problem read_epilogue(const Json &value, std::vector<EpilogueStep> *result) {
    if (!value.is_array()) return expected(known_steps, value);
    result->clear();
    for (const Json &entry : value) {
        const auto step = read_step(entry);
        if (!step) return expected(known_steps, entry);
        result->push_back(*step);
    }
    return {};
}

Problem read_any_layout(const Json &value, std::string *result) {
    if (value.is_string()) {
        *result = value.get<std::string>();
        if (parse_activation_layout(*result) || parse_kernel_layout(*result)) return {};
    }
    return expected(std::string(known_layouts) + ", HWIO, HWOI", value);
}

// A single size stands for every spatial dimension; read_entry() repeats it once the rank is known.
Problem read_block(const Json &value, std::vector<int64_t> *result) {
    if (!value.is_number()) return read_sizes(value, result);
    result->assign(1, 0);
    return read_integer(value, 1, &result->front());
}

// Which kinds of operation a field has a meaning for.
enum Kinds : unsigned { convolutions = 1, blocks = 2, transforms = 4, any_kind = 7 };

Kinds kind_of(Operation op) {
    if (is_convolution(op)) return convolutions;
    return op == Operation::layout_transform ? transforms : blocks;
}

struct Field {
    std::string_view name;
    unsigned used_by, required_by;
    Problem (*read)(const Json &, NamedWorkload *);
};

constexpr Field fields[] = {
    {"name", any_kind, any_kind, [](const Json &v, NamedWorkload *e) { return read_text(v, &e->name); }},
    {"count", any_kind, 0, [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->count); }},
    // Before all others in read_entry().
    {"op", any_kind, any_kind, [](const Json &, NamedWorkload *) { return Problem(); }},
    // The output's dtype is the same unless output_dtype, which comes later in this table, says otherwise.
    {"dtype", any_kind, 0,
     [](const Json &v, NamedWorkload *e) {
         const Problem problem = read_name(v, parse_dtype, known_dtypes, &e->workload.dtype);
         e->workload.output_dtype = e->workload.dtype;
         return problem;
     }},
    {"output_dtype", any_kind, 0,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_dtype, known_dtypes, &e->workload.output_dtype);
     }},
    {"input", any_kind, any_kind, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.input); }},
    {"kernel", convolutions, convolutions,
     [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.kernel); }},
    {"strides", convolutions, 0, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.strides); }},
    {"padding", convolutions, 0, [](const Json &v, NamedWorkload *e) { return read_padding(v, &e->workload.padding); }},
    {"lhs_dilation", convolutions, 0,
     [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.lhs_dilation); }},
    {"rhs_dilation", convolutions, 0,
     [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.rhs_dilation); }},
    {"feature_group_count", convolutions, 0,
     [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->workload.feature_group_count); }},
    {"batch_group_count", convolutions, 0,
     [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->workload.batch_group_count); }},
    {"input_layout", convolutions | blocks, 0,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_activation_layout, known_layouts, &e->workload.input_layout);
     }},
    {"output_layout", convolutions | blocks, 0,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_activation_layout, known_layouts, &e->workload.output_layout);
     }},
    {"kernel_layout", convolutions, 0,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_kernel_layout, "one of HWIO, HWOI", &e->workload.kernel_layout);
     }},
    {"epilogue", convolutions, 0,
     [](const Json &v, NamedWorkload *e) { return read_epilogue(v, &e->workload.epilogue); }},
    {"special_values", convolutions, 0,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_special_values, "one of finite, exact", &e->workload.special_values);
     }},
    {"block", blocks, blocks, [](const Json &v, NamedWorkload *e) { return read_block(v, &e->workload.block); }},
    {"from_layout", transforms, transforms,
     [](const Json &v, NamedWorkload *e) { return read_any_layout(v, &e->workload.from_layout); }},
    {"to_layout", transforms, transforms,
     [](const Json &v, NamedWorkload *e) { return read_any_layout(v, &e->workload.to_layout); }},
};

const Field *find_field(std::string_view name) {
    for (const Field &field : fields) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

std::string field_names(unsigned kinds) {
    std::string names;
    for (const Field &field : fields) {
        if (field.used_by & kinds) names += (names.empty() ? "" : ", ") + std::string(field.name);
    }
    return names;
}

// The operation decides which fields there can be, so it is read first.
Problem read_operation(const Json &entry, Workload *workload, int *rank) {
    if (!entry.contains("op")) return "op: is missing; needs " + std::string(known_operations);
    OperationName operation{};
    if (Problem p = read_name(entry["op"], parse_operation, known_operations, &operation)) return "op: " + *p;
    workload->op = operation.op;
    *rank = operation.spatial_rank;
    if (!is_convolution(operation.op) && kind_of(operation.op) == blocks && operation.op != Operation::space_to_depth &&
        operation.op != Operation::depth_to_space) {
        return fmt::format("op: {} is known, but this version of kiln has no form for its sizes yet; leave it out",
                           entry["op"].get<std::string>());
    }
    return {};
}

// Fills what the entry left out; the sizes that the rank must agree with are checked by validate().
void fill_defaults(int rank, Workload *w) {
    w->spatial_rank = rank ? rank : static_cast<int>(w->input.size()) - 2;
    if (w->spatial_rank < 1 || w->spatial_rank > 3) return;
    for (auto *values : {&w->strides, &w->lhs_dilation, &w->rhs_dilation}) {
        if (values->empty()) values->assign(w->spatial_rank, 1);
    }
    if (w->padding.empty()) w->padding.assign(w->spatial_rank, {});
    if (w->block.size() == 1) w->block.assign(w->spatial_rank, w->block[0]);
}

}  // namespace

FieldProblem expected(std::string_view what, const Json &value) {
    return fmt::format("needs {}; got {}", what, shown(value));
}

FieldProblem read_text(const Json &value, std::string *result) {
    constexpr std::string_view form = "a text of printable characters";
    if (!value.is_string()) return expected(form, value);
    *result = value.get<std::string>();
    for (unsigned char c : *result) {
        if (c < 0x20 || c == 0x7f) return expected(form, value);
    }
    if (result->empty()) return expected(form, value);
    return {};
}

FieldProblem read_workload_entry(const Json &entry, NamedWorkload *result) {
    if (!entry.is_object()) return expected("an object", entry);
    int rank = 0;
    Workload &w = result->workload;
    if (Problem p = read_operation(entry, &w, &rank)) return p;
    const Kinds kind = kind_of(w.op);
    for (const auto &[name, value] : entry.items()) {
        const Field *field = find_field(name);
        if (!field) return fmt::format("{}: unknown field; allowed are {}", name, field_names(kind));
        if (!(field->used_by & kind)) {
            return fmt::format("{}: has no meaning for {}; allowed are {}", name, op_name(w), field_names(kind));
        }
    }
    for (const Field &field : fields) {
        if (!entry.contains(field.name)) {
            if (field.required_by & kind) return fmt::format("{}: is missing", field.name);
        } else if (Problem p = field.read(entry[std::string(field.name)], result)) {
            return fmt::format("{}: {}", field.name, *p);
        }
    }
    fill_defaults(rank, &w);
    if (Status s = validate(w); !s) return s.error().message;
    if (w.op == Operation::layout_transform &&
        parse_kernel_layout(w.from_layout).has_value() != parse_kernel_layout(w.to_layout).has_value()) {
        return fmt::format("to_layout: {} to {} mixes a layout of activations with one of kernels", w.from_layout,
                           w.to_layout);
    }
    return {};
}

}  // namespace kiln
