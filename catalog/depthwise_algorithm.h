// Where algorithms of depthwise convolutions apply, and their spaces: rows of the catalog.
#pragma once

#include <cstdint>
#include <string_view>

#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Depthwise convolutions, and gradients of their inputs, between activations of which one has contiguous rows.
Status depthwise_rows_applies(std::string_view name, const Workload &w, const Target &target);
Space depthwise_rows_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// The same and others that have the channels of a vector apart, in vectors of channels.
Status depthwise_turned_applies(std::string_view name, const Workload &w, const Target &target);
Space depthwise_turned_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// Quantized ones with channels side by side, in steps of several columns (rewrites/column_steps.h).
Status quantized_depthwise_applies(std::string_view name, const Workload &w, const Target &target);
Space quantized_depthwise_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// Columns of a step: 4 products of u8 and i8 in one instruction (VNNI), else 2 of i16, which any x86-64 adds up in i32.
int64_t column_parts(const Workload &w, const Target &target);

}  // namespace kiln
