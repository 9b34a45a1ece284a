// The text form of a nest's reads (workload/nest/nest.h).
#pragma once

#include "workload/nest/nest.h"

namespace kiln {

// Precondition: loops, over and operands of `nest` are there and within bounds.
Result<std::vector<NestRead>> parse_reads(std::string_view text, const Nest &nest);

}  // namespace kiln
