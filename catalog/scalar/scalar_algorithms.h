// Where sums for cores without vectors apply, and their spaces: rows of the catalog.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

Status scalar_depthwise_applies(std::string_view name, const Workload &w, const Target &target);
Space scalar_depthwise_space_of(const Candidate &base, const Workload &w, const Target &target, const Core &core);

Status scalar_dense_applies(std::string_view name, const Workload &w, const Target &target);
Space scalar_dense_space_of(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// In code that layers of other sizes share.
Status shared_depthwise_applies(std::string_view name, const Workload &w, const Target &target);
Space shared_depthwise_space_of(const Candidate &base, const Workload &w, const Target &target, const Core &core);

Status shared_dense_applies(std::string_view name, const Workload &w, const Target &target);
Space shared_dense_space_of(const Candidate &base, const Workload &w, const Target &target, const Core &core);

}  // namespace kiln
