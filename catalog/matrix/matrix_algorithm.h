// Where products of matrices in tile registers (AMX) apply, when they pay, and their space: a row of the catalog.
#pragma once

#include <string_view>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Forward convolutions of i8, u8 and bf16, of one group and channels side by side.
Status matrix_applies(std::string_view name, const Workload &w, const Target &target);
Space matrix_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);
// The loops, without strides. Precondition: it applies, whatever the target.
ConvLoops matrix_loops(const Workload &w);
// Whether it is estimated to take fewer cycles than products of vectors.
bool matrix_pays(const Workload &w, const Target &target, const Core &core);

}  // namespace kiln
