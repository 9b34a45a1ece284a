// The rule of the conformance suites for when a computed tensor equals an expected one. Pure.
//
//   |got - expected| <= value * max(1, |expected|), both widened to double, or without the factor where it is absolute;
//   NaN must meet NaN, and Inf must meet Inf of the same sign. A value of 0 asks for equality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/reference/tensor.h"
#include "workload/expression/element.h"
#include "workload/workload.h"

namespace kiln {

struct Tolerance {
    double value = 0;
    bool is_absolute = false;
};

// ln(max(2, window * Ci)) * base, with the base of the coarser of operand and output type. A suite allows this to a
// convolution. Algorithms that transform their operands get it even where the direct sum would be exact.
Tolerance convolution_tolerance(const Workload &workload);

struct Verdict {
    bool passed = false;
    std::optional<double> max_error;  // largest |got - expected|, over the factor; unset where it is no number
    std::string reason;               // of a failure: what was where, and what should have been
};
Verdict judge(const Tensor &got, const Tensor &expected, Tolerance tolerance);

// Elements of any type. Integers are compared as such, so that large ones need not be rounded.
struct Elements {
    scalar::Element type = scalar::Element::f32;
    std::vector<int64_t> shape;
    std::span<const std::byte> bytes;
};
Verdict judge(const Elements &got, const Elements &expected, Tolerance tolerance);

}  // namespace kiln
