// Where Winograd convolution applies to small integers, its space, and an estimate of when it pays: a row of the catalog for each
// size of tiles, quantized_winograd_2 and quantized_winograd_3.
//
// It is exact. Transforms have no fractions (integer_winograd()), transformed numbers fit i16, and products of pairs of them are
// added up in i32, as those of direct sums are. The scale of the result is divided out at the end: its odd part by the inverse
// modulo 2^32, its power of two by a shift, for which the scaled sum must fit i32. Std only.
#pragma once

#include <string_view>

#include "catalog/winograd_matrices.h"
#include "rewrites/conv_loops.h"
#include "schedules/space.h"
#include "workload/core.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

inline constexpr int quantized_winograd_parts = 2;  // channels whose products of i16 one instruction adds up

Status quantized_winograd_applies(std::string_view name, const Workload &workload, const Target &target);
Space quantized_winograd_space(const Candidate &base, const Workload &workload, const Target &target, const Core &core);

// The transforms along x (0) or y (1) of loops of unit_strides() (rewrites/fold.h), for tiles of m outputs a side.
IntegerWinograd quantized_winograd_matrices(int m, const ConvLoops &loops, int d);

// Whether F(m, r) is the one to use where nothing was measured. Precondition: quantized_winograd_<m> applies.
bool quantized_winograd_pays(int m, const Workload &workload, const Target &target, const Core &core);

}  // namespace kiln
