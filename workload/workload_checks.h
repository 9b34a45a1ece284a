// The halves of validate() (workload/workload.h) that concern one kind of operation each.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// That a list has `count` entries from `smallest` to 2^31 - 1; that a tensor's bytes fit 62 bits.
Status check_sizes(std::string_view field, const std::vector<int64_t> &values, size_t count, int64_t smallest);
Status check_tensor_size(std::string_view field, const std::vector<int64_t> &shape);

// Precondition: `input`, where the operation has one, and the layouts' blocks have been checked.
Status check_convolution(const Workload &w);
Status check_winograd_transform(const Workload &w);
Status check_nest(const Workload &w);
Status check_data_movement(const Workload &w);

}  // namespace kiln
