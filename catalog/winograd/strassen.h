// Strassen's algorithm for convolutions of one tap (V. Strassen, "Gaussian elimination is not optimal", 1969), in Winograd's form of seven
// products and 15 additions (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", the chapter on fast matrix multiplication,
// which bounds its errors, too). It takes the product of two matrices, whose rows are pixels and whose columns are channels, as products
// of their quarters. generators/winograd/strassen.cpp has the formulas.
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

Status strassen_applies(std::string_view name, const Workload &workload, const Target &target);
Space strassen_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

// Whether it is estimated to take fewer cycles than direct sums, on the CPUs on which it was measured.
bool strassen_pays(const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
