// Reads `workloads/1` files: lists of a network's layers with names and counts. Every error names file, entry and
// field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct NamedWorkload {
    std::string list, name;
    int64_t count = 1;
    Workload workload;
    double odds = 1;  // that its kernel will be used: a network may have it in several layouts
};

Result<std::vector<NamedWorkload>> read_workload_list(const std::string &path);
Result<std::vector<NamedWorkload>> parse_workload_list(const std::string &json, const std::string &source);

// One entry for each distinct key, in order of first appearance; counts add. The first name stands for the key.
std::vector<NamedWorkload> merge_equal(const std::vector<NamedWorkload> &workloads);

}  // namespace kiln
