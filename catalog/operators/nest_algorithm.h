// Nests: the operators of a network beside its convolutions.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

Status nest_applies(std::string_view name, const Workload &workload, const Target &target);
Space nest_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
