// One entry of a `workloads/1` list: a table of its fields, how each is read and which operations it has a meaning for.
// Used by workload/lists/workload_list.cpp, which adds file and entry to what is reported here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "workload/lists/workload_list.h"

namespace kiln {

// Why a value is refused, and what is allowed instead; nothing when it was read.
using FieldProblem = std::optional<std::string>;

FieldProblem expected(std::string_view what, const nlohmann::json &value);  // "needs `what`; got ..."
FieldProblem read_text(const nlohmann::json &value, std::string *result);   // printable, not empty

// Fills name, count and workload. The problem starts with the field's name.
FieldProblem read_workload_entry(const nlohmann::json &entry, NamedWorkload *result);

}  // namespace kiln
