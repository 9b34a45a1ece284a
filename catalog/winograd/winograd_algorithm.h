// Where Winograd convolution applies, and the space it offers: the catalog's side of generators/winograd/conv.cpp.
//
// One algorithm a tile size, winograd_2 to winograd_6: F(m x m, r x r) and, where the kernel is one wide on a side,
// F(m, r) along the other. Std only.
#pragma once

#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// The m of "winograd_<m>". Precondition: a name of the catalog.
int winograd_m(std::string_view algorithm);

// What depends on the form of a convolution alone, for tiles of m outputs a side, and not on its numbers.
Status winograd_form_applies(int m, const Workload &workload, const Target &target);

Status winograd_applies(std::string_view name, const Workload &workload, const Target &target);
Space winograd_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
