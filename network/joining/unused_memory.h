// Memory between steps that no step uses any more.
#pragma once

#include "network/program.h"

namespace kiln::network {

// Memory is planned before steps are joined: for all that they hand on. Leaves out those bytes of the workspace that no step that is left
// reads or writes, and moves what lies behind them. Steps compute the same.
void leave_out_unused_memory(Program *program);

}  // namespace kiln::network
