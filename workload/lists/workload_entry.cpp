#include "workload/lists/workload_entry.h"

#include <fmt/format.h>

#include <algorithm>

#include "json/json_fields.h"
#include "workload/lists/field_values.h"
#include "workload/lists/workload_steps.h"
#include "workload/workload.h"

namespace kiln {
namespace {

constexpr std::string_view known_operations =
    "one of conv1d, conv2d, conv3d, each also with _backprop_input or _backprop_kernel, space_to_depth, "
    "depth_to_space, layout_transform, winograd_input_transform, winograd_filter_transform, winograd_output_transform, "
    "nest";

// The fields of an entry that are not fields of the workload.
constexpr std::string_view fields_of_entry[] = {"name", "count", "op", "then"};

bool is_allowed(std::string_view name, Operation op) {
    if (name == "then") return is_data_movement(op);
    return std::ranges::find(fields_of_entry, name) != std::end(fields_of_entry) || has_field(op, name);
}

bool is_known(std::string_view name) {
    return std::ranges::find(fields_of_entry, name) != std::end(fields_of_entry) ||
           std::ranges::find(workload_fields(), name, &WorkloadField::name) != workload_fields().end();
}

std::string allowed_names(Operation op) {
    std::string names = "name, count, op";
    for (const WorkloadField &field : workload_fields()) {
        if (field.is_used_by(op)) names += ", " + std::string(field.name);
    }
    return is_data_movement(op) ? names + ", then" : names;
}

void check_names(JsonFields &fields, const Workload &w) {
    for (const std::string &name : fields.names()) {
        if (is_allowed(name, w.op)) continue;
        const std::string why = is_known(name) ? "has no meaning for " + op_name(w) : "unknown field";
        fields.fail(name, why + "; allowed are " + allowed_names(w.op));
    }
}

// A layout transform has either an input or a kernel; validate() sees to that.
bool is_required(const WorkloadField &field, Operation op) {
    const bool is_of_choice = op == Operation::layout_transform && (field.name == "input" || field.name == "kernel");
    return field.left_out == LeftOut::refused && field.is_used_by(op) && !is_of_choice;
}

void read_workload_fields(JsonFields &fields, Workload *w) {
    for (const WorkloadField &field : workload_fields()) {
        if (fields.has(field.name) || is_required(field, w->op)) {
            fields.read(field.name, [&](const Json &value) { return read_field(value, field, w); });
        } else {
            leave_out(field, w);
        }
    }
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

FieldProblem read_workload_entry(const Json &entry, NamedWorkload *result) {
    FieldProblem problem;
    JsonFields fields(entry, "", &problem);
    if (!problem && !fields.has("op")) fields.fail("op", "is missing; needs " + std::string(known_operations));
    // It decides which fields there can be.
    const auto operation = fields.get<OperationName>("op", [](const Json &value, OperationName *read) {
        return read_name(value, parse_operation, known_operations, read);
    });
    if (problem) return problem;
    Workload &w = result->workload;
    w.op = operation.op;
    check_names(fields, w);
    result->name = fields.get<std::string>("name", read_text);
    if (fields.has("count")) {
        fields.read("count", [&](const Json &value) { return read_integer(value, 1, largest_size, &result->count); });
    }
    read_workload_fields(fields, &w);
    if (problem) return problem;
    complete(operation.spatial_rank, &w);
    if (Status s = validate(w); !s) return s.error().message;
    if (fields.has("then")) return read_then(entry["then"], &w);
    return {};
}

}  // namespace kiln
