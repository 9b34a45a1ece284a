// The space of `move_tile`: data movement as a permutation of digits (rewrites/movement.h), by one of four templates
// that stored candidates tell apart by the knob `method` (move_method.h). Each has its knobs, domains, constraints and
// default in a file of its own; schedules/apply/movement/ applies them.
#pragma once

#include "rewrites/movement.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space move_tile_space(Candidate base, const Movement &movement, const Target &target, const Core &core);

}  // namespace kiln
