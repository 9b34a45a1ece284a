// From sums in i32 to the numbers of a quantized result, as tuner/reference/quantized/ defines it, in vectors.
#pragma once

#include <Halide.h>

#include <functional>

#include "workload/workload.h"

namespace kiln {

// The values that belong to an output element.
struct Requantization {
    Halide::Expr multiplier, shift;              // litert
    Halide::Expr scale;                          // onnx
    Halide::Expr zero_point, smallest, largest;  // of the number
};

// What an `add` behind the requantization has.
struct QuantizedAddition {
    Halide::Expr addend, addend_zero_point;
    Halide::Expr multiplier[3], shift[3];        // litert: of the number, the addend and their sum
    Halide::Expr factors[3];                     // onnx
    Halide::Expr zero_point, smallest, largest;  // of the result
};

// Makes a stage of an expression, which a schedule may compute for all results of a register tile before the next stage
// (schedules/apply/tile_numbers.h).
using Staged = std::function<Halide::Expr(const Halide::Expr &)>;

inline Halide::Expr unstaged(const Halide::Expr &value) { return value; }

// A number of the result's type, between the bounds. It is the sum itself where the workload's result is one.
Halide::Expr requantize(const Workload &workload, const Halide::Expr &sum, const Requantization &how,
                        const Staged &staged);

// The same for a workload with an addition behind it.
Halide::Expr requantize_and_add(const Workload &workload, const Halide::Expr &sum, const Requantization &how,
                                const QuantizedAddition &addition, const Staged &staged);

// LiteRT's for a multiplier and a shift, before zero point and bounds.
Halide::Expr litert_requantized(const Halide::Expr &sum, const Halide::Expr &multiplier, const Halide::Expr &shift,
                                const Staged &staged = unstaged);

}  // namespace kiln
