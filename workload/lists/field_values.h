// The values of a workload's fields in JSON: one reader and one writer for each type of field in the table.
#pragma once

#include "json/json_value.h"
#include "workload/workload_fields.h"

namespace kiln {

inline constexpr int64_t largest_size = 2147483647;  // of an integer in a field

FieldProblem read_field(const Json &value, const WorkloadField &field, Workload *w);

Json field_value(const WorkloadField &field, const Workload &w);  // as read_field() reads it

}  // namespace kiln
