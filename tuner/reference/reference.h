// The reference that every kernel is judged by, written without Halide: every convolution of XLA's semantics (any rank,
// dilations, groups, layouts) and its two gradients, the Winograd transforms, and data movement. Sums are in double.
// Convolutions of large layers take long, so their loops (convolution_loops.h) are blocked and compiled for several CPUs;
// tests hold them to the definition's seven plain loops.
#pragma once

#include <vector>

#include "tuner/reference/operands.h"
#include "tuner/reference/tensor.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// In the memory order of the result.
struct Reference {
    std::vector<double> expected;   // after the epilogue, before the conversion to output_dtype
    std::vector<double> magnitude;  // sum |x||k| + |bias| + |addend|: what errors are relative to; of a
                                    // transform: sum of |matrix entries||x|; of moved data |x|; 0 where results
                                    // are integers, which must be equal
};

// Whether there is one. Errors: an operation that has no reference yet (unsupported).
Status check_reference(const Workload &workload);

// Errors: as check_reference().
Result<Reference> reference(const Workload &workload, const Operands &operands);

}  // namespace kiln
