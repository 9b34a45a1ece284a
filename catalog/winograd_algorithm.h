// Where Winograd convolution applies, and the space it offers: the catalog's side of generators/winograd_conv.cpp.
//
// One algorithm a tile size, winograd_2 to winograd_6: F(m x m, r x r) and, where the kernel is one wide on a side,
// F(m, r) along the other. Std only.
#pragma once

#include <string_view>

#include "workload/machine.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"
#include "schedules/space.h"

namespace kiln {

inline constexpr int winograd_algorithm_version = 1;

// The m of "winograd_<m>". Precondition: a name of the catalog.
int winograd_m(std::string_view algorithm);

// Everything but the size limits that all algorithms share.
Status winograd_applies(const Workload &workload, int m);
// Precondition: winograd_applies.
Space winograd_space(const Workload &workload, int m, const Target &target, const Machine &machine);

}  // namespace kiln
