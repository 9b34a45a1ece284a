// Core descriptions as files, format core/1:
//
//   {"format": "core/1", "name": "vexriscv", "clock_hz": 100000000,
//    "instruction_cache": {"bytes": 4096, "line_bytes": 32, "refill_cycles": 18}, "data_cache": {...},
//    "load_cycles": 3, "multiply_cycles": 3, "shift_cycles": 2, "divide_cycles": 34, "jump_cycles": 1, "indirect_jump_cycles": 4,
//    "mispredicted_cycles": 5, "store_cycles": 3, "pending_stores": 2}
//
// Only the format must be there: a field that is left out has the value of the default core, which is the one above.
#pragma once

#include <string>

#include "simulate/core_description.h"
#include "workload/result.h"

namespace kiln {

// Errors (bad_input) name `path` and the field, and say what is needed.
Result<CoreDescription> parse_core(const std::string &text, const std::string &path);
Result<CoreDescription> read_core_file(const std::string &path);

}  // namespace kiln
