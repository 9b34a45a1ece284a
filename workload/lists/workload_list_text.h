// Writes what workload_list.h reads.
#pragma once

#include <string>
#include <vector>

#include "workload/lists/workload_list.h"

namespace kiln {

// A `workloads/1` file, an entry a line. Fields that have their default are left out. Names must be printable UTF-8; `list` of
// the entries is ignored.
std::string workload_list_text(const std::string &list, const std::vector<NamedWorkload> &workloads);

}  // namespace kiln
