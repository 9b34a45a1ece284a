// The machine that this process runs on: the only place that reads it from the hardware and the system. Everything else
// is handed a Machine.
#pragma once

#include "workload/machine.h"

namespace kiln {

Machine read_machine();

}  // namespace kiln
