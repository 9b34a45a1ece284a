// Operators as names and fields of numbers and texts, as libraries of users see them (network/library/alteration.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/operator.h"
#include "workload/result.h"

namespace kiln::network {

struct OperatorFields {
    std::string name;
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, std::string> texts;
};

OperatorFields fields_of(const graph::Operator &op);

// The other way. Fields that are left out have their defaults, where there is one. An error names the operator and the field.
Result<graph::Operator> operator_of(const OperatorFields &fields);

}  // namespace kiln::network
