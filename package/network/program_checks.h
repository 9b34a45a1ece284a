// What a program must be before its places become constants of a library: everything that it reads or writes lies within
// what there is.
#pragma once

#include "network/program.h"
#include "workload/result.h"

namespace kiln {

// An error tells of a fault in kiln, not in the model (unsupported).
Status check_program(const network::Program &program);

// The program without steps that write nothing.
network::Program without_idle_steps(network::Program program);

}  // namespace kiln
