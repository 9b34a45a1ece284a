// The program of a network on the command line: the model behind all passes, as kernel calls.
#pragma once

#include "cli/network/network_options.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln {

// Errors begin with the file and may have several lines: what the model has that kiln cannot compute (unsupported), or what is wrong
// with it or with the shapes.
Result<network::Program> read_program(const NetworkOptions &options);

}  // namespace kiln
