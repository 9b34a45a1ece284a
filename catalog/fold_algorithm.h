// The space-to-depth rewrite of convolutions and of the gradient of the kernel (rewrites/fold.h) as
// algorithms: rows of the catalog.
//
//   space_to_depth_fused      the kernel folds the input on its way into the cache
//   space_to_depth_prepared   the kernel takes an input that its `prepare` has folded and padded, once, in an input
//                             pipeline; its times are without that
//
//   space_to_depth_kernel_gradient   the gradient of the kernel. Its kernel folds the input itself, and does not store
//                             the sums of taps that only fill up a block
//
// Std only.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

inline constexpr std::string_view fold_fused = "space_to_depth_fused", fold_prepared = "space_to_depth_prepared";
inline constexpr std::string_view fold_gradient = "space_to_depth_kernel_gradient";
// For forward convolutions.
inline bool is_fold(std::string_view algorithm) { return algorithm == fold_fused || algorithm == fold_prepared; }

Status fold_applies(std::string_view name, const Workload &workload, const Target &target);
Space fold_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);
Status fold_gradient_applies(std::string_view name, const Workload &workload, const Target &target);
Space fold_gradient_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
