// A kernel's output against the reference.
//
// The error of an element is |got - expected| relative to the sum of the magnitudes that it was added up from: what
// rounding in any order of additions can explain. Where that sum is 0 or a NaN the output must be exactly the expected value;
// where it is infinite, nothing is known of the output. An expected value beyond the range of the output's type is infinite there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "workload/workload.h"

namespace kiln {

// Outputs are filled with this before a call. It is a NaN in f32, f16 and bf16, and one that no arithmetic produces.
inline constexpr uint16_t poison = 0x7fad;
void fill_with_poison(std::span<std::byte> bytes);

struct ComparisonRequest {
    const Workload &workload;
    std::span<const std::byte> got;  // the stored result, in output_dtype
    std::span<const double> expected, magnitude;
    double error_budget = 0;
    bool against_largest = false;  // errors relative to the largest magnitude of the layer instead of the element's
};

struct Comparison {
    double max_error = 0;  // infinite where an element is NaN, infinite or not exact, and should not be
    double rms_error = 0;
    std::string problem;  // empty: within the budget. Else the worst element, and how many are wrong or not written
};
Comparison compare(const ComparisonRequest &request);

}  // namespace kiln
