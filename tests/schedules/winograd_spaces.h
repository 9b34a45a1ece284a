// Winograd's spaces of workloads, and what their candidates hold.
#pragma once

#include "schedules/spaces/winograd/winograd_knobs.h"
#include "schedules/spaces/winograd/winograd_space.h"
#include "workload/workload.h"

namespace kiln {

inline Space winograd_space_of(const Workload &w, const Target &target, WinogradTransform transform = {4, 2, false}) {
    return winograd_space({}, transform, conv_loops(w), target, Core());
}

inline WinogradKnobs winograd_knobs_of(const Candidate &candidate) {
    return *decode_knobs<WinogradKnobs>(candidate.knobs);
}

}  // namespace kiln
