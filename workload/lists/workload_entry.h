// One entry of a `workloads/1` list: the fields of a workload (workload/workload_fields.h), a name and a count.
// Used by workload/lists/workload_list.cpp, which adds file and entry to what is reported here.
#pragma once

#include "json/json_value.h"
#include "workload/lists/workload_list.h"

namespace kiln {

// Fills name, count and workload. The problem starts with the field's name.
FieldProblem read_workload_entry(const Json &entry, NamedWorkload *result);

}  // namespace kiln
