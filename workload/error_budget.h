// How far a kernel's results may be from the reference. The limits are for ErrorMeasures::max and `wide` (records/trial.h).
#pragma once

namespace kiln {

inline constexpr double default_error_budget = 1e-5;
// `wide` may be this much of the budget. On data of wide range the largest sum has few products, whose errors do not average
// out, and every output of the layer counts. The limit lets F(6, 3) in, and nothing much worse.
inline constexpr double wide_error_factor = 2;

}  // namespace kiln
