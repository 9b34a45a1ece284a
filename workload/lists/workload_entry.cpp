#include "workload/lists/workload_entry.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "workload/tensor_layout.h"
#include "workload/workload.h"
#include "workload/lists/workload_steps.h"

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

Problem read_integers(const Json &value, int64_t smallest, std::vector<int64_t> *result) {
    if (!value.is_array() || value.empty()) {
        return expected(smallest > 0 ? "a list of positive integers" : "a list of integers from 0", value);
    }
    result->clear();
    for (const Json &entry : value) {
        if (Problem p = read_integer(entry, smallest, &result->emplace_back())) return p;
    }
    return {};
}

Problem read_sizes(const Json &value, std::vector<int64_t> *result) { return read_integers(value, 1, result); }

Problem read_flag(const Json &value, bool *result) {
    if (!value.is_boolean()) return expected("true or false", value);
    *result = value.get<bool>();
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

// A value with a name: `parse` is one of workload/workload.h, `allowed` what it knows.
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
    "depth_to_space, layout_transform, winograd_input_transform, winograd_filter_transform, winograd_output_transform";
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
        if (parse_tensor_layout(*result)) return {};
    }
    return expected(
        "the axes N, C, HW or O, I, HW in the order of memory, then blocks (NHWC, CHWN, NCHW16c, OIHW, "
        "OIHW16i16o)",
        value);
}

// A single size stands for every spatial dimension; read_entry() repeats it once the rank is known.
Problem read_block(const Json &value, std::vector<int64_t> *result) {
    if (!value.is_number()) return read_sizes(value, result);
    result->assign(1, 0);
    return read_integer(value, 1, &result->front());
}

// Which operations a field has a meaning for is known to workload/workload.h; but for those of the entry itself.
struct Field {
    std::string_view name;
    enum Presence { optional, required } presence;
    Problem (*read)(const Json &, NamedWorkload *);
    bool of_entry = false;

    bool is_used_by(Operation op) const {
        return of_entry || has_field(op, name) || (name == "then" && is_data_movement(op));
    }
};

constexpr Field fields[] = {
    {"name", Field::required, [](const Json &v, NamedWorkload *e) { return read_text(v, &e->name); }, true},
    {"count", Field::optional, [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->count); }, true},
    // Before all others in read_entry().
    {"op", Field::required, [](const Json &, NamedWorkload *) { return Problem(); }, true},
    // The output's dtype is the same unless output_dtype, which comes later in this table, says otherwise.
    {"dtype", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         const Problem problem = read_name(v, parse_dtype, known_dtypes, &e->workload.dtype);
         e->workload.output_dtype = e->workload.dtype;
         return problem;
     }},
    {"output_dtype", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_dtype, known_dtypes, &e->workload.output_dtype);
     }},
    {"input", Field::required, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.input); }},
    {"kernel", Field::required, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.kernel); }},
    {"strides", Field::optional, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.strides); }},
    {"padding", Field::optional, [](const Json &v, NamedWorkload *e) { return read_padding(v, &e->workload.padding); }},
    {"lhs_dilation", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.lhs_dilation); }},
    {"rhs_dilation", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.rhs_dilation); }},
    {"feature_group_count", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->workload.feature_group_count); }},
    {"batch_group_count", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_integer(v, 1, &e->workload.batch_group_count); }},
    {"input_layout", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_activation_layout, known_layouts, &e->workload.input_layout);
     }},
    {"output_layout", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_activation_layout, known_layouts, &e->workload.output_layout);
     }},
    {"kernel_layout", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_kernel_layout, "one of HWIO, HWOI", &e->workload.kernel_layout);
     }},
    {"epilogue", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_epilogue(v, &e->workload.epilogue); }},
    {"special_values", Field::optional,
     [](const Json &v, NamedWorkload *e) {
         return read_name(v, parse_special_values, "one of finite, exact", &e->workload.special_values);
     }},
    {"block", Field::required, [](const Json &v, NamedWorkload *e) { return read_block(v, &e->workload.block); }},
    {"from_layout", Field::required,
     [](const Json &v, NamedWorkload *e) { return read_any_layout(v, &e->workload.from_layout); }},
    {"to_layout", Field::required,
     [](const Json &v, NamedWorkload *e) { return read_any_layout(v, &e->workload.to_layout); }},
    {"window", Field::required, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.window); }},
    {"tile", Field::required, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.tile); }},
    {"points", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_integer(v, 0, &e->workload.points); }},
    {"tile_dimensions", Field::optional,
     [](const Json &v, NamedWorkload *e) { return read_integers(v, 0, &e->workload.tile_dimensions); }},
    {"batch", Field::optional, [](const Json &v, NamedWorkload *e) { return read_flag(v, &e->workload.batch); }},
    {"output", Field::optional, [](const Json &v, NamedWorkload *e) { return read_sizes(v, &e->workload.output); }},
    // After all others in read_workload_entry().
    {"then", Field::optional, [](const Json &, NamedWorkload *) { return Problem(); }},
};

const Field *find_field(std::string_view name) {
    for (const Field &field : fields) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

// A layout transform has either an input or a kernel; validate() sees to that.
bool is_of_choice(const Field &field, Operation op) {
    return op == Operation::layout_transform && (field.name == "input" || field.name == "kernel");
}

std::string field_names(Operation op) {
    std::string names;
    for (const Field &field : fields) {
        if (field.is_used_by(op)) names += (names.empty() ? "" : ", ") + std::string(field.name);
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
    return {};
}

// Fills what the entry left out; the sizes that the rank must agree with are checked by validate().
void complete(int rank, Workload *w) {
    w->spatial_rank = rank ? rank : rank_of_shape(*w);
    if (w->block.size() == 1 && w->spatial_rank >= 1 && w->spatial_rank <= 3) {
        w->block.assign(w->spatial_rank, w->block[0]);
    }
    fill_defaults(w);
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
    for (const auto &[name, value] : entry.items()) {
        const Field *field = find_field(name);
        if (!field) return fmt::format("{}: unknown field; allowed are {}", name, field_names(w.op));
        if (!field->is_used_by(w.op)) {
            return fmt::format("{}: has no meaning for {}; allowed are {}", name, op_name(w), field_names(w.op));
        }
    }
    for (const Field &field : fields) {
        if (!entry.contains(field.name)) {
            if (field.presence == Field::required && field.is_used_by(w.op) && !is_of_choice(field, w.op))
                return fmt::format("{}: is missing", field.name);
        } else if (Problem p = field.read(entry[std::string(field.name)], result)) {
            return fmt::format("{}: {}", field.name, *p);
        }
    }
    complete(rank, &w);
    if (Status s = validate(w); !s) return s.error().message;
    if (entry.contains("then")) return read_then(entry["then"], &w);
    return {};
}

}  // namespace kiln
