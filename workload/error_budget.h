// How far a kernel's results may be from the reference: of ErrorMeasures::max and `wide` (records/trial.h).
#pragma once

namespace kiln {

inline constexpr double default_error_budget = 1e-5;
// `wide` may be this much of the budget: on data of wide range the largest sum is a few products, whose errors have no
// others to average with, and every output of the layer counts. It lets F(6, 3) in, and nothing much worse.
inline constexpr double wide_error_factor = 2;

}  // namespace kiln
