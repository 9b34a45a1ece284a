// Where sums of quantized convolutions apply, how many channels they multiply in a lane, and their space: a row of the catalog.
#pragma once

#include <string_view>

#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

Status quantized_applies(std::string_view name, const Workload &w, const Target &target);
Space quantized_space(const Candidate &base, const Workload &w, const Target &target, const Core &core);

// The loops of a quantized convolution in parts (rewrites/parts.h):
//   4   products of u8 and i8 in one instruction (VNNI). Pairs of them that add up in i16, as AVX2 has, saturate and are not used
//   2   products of i16, which any x86-64 adds up in i32
//   1   of an i16 and a u8, for lanes that each need a channel of their own: depthwise, and groups that share a vector
ConvLoops quantized_loops(const Workload &w, const Target &target);

}  // namespace kiln
