// The rule of the conformance suites for when a computed tensor equals an expected one. Pure.
//
//   |got - expected| <= value * max(1, |expected|), both widened to double;
//   NaN must meet NaN, and Inf must meet Inf of the same sign. A value of 0 asks for equality.
#pragma once

#include <optional>
#include <string>

#include "tuner/reference/tensor.h"
#include "workload/workload.h"

namespace kiln {

struct Tolerance {
    double value = 0;
};

// ln(max(2, window * Ci)) * base, with the base of the coarser of operand and output type. A suite allows this to a
// convolution. Algorithms that transform their operands get it even where the direct sum would be exact.
Tolerance convolution_tolerance(const Workload &workload);

struct Verdict {
    bool passed = false;
    std::optional<double> max_error;  // largest |got - expected| / max(1, |expected|); unset where it is no number
    std::string reason;               // of a failure: what was where, and what should have been
};
Verdict judge(const Tensor &got, const Tensor &expected, Tolerance tolerance);

}  // namespace kiln
