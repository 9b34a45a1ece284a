// The type of an element in Halide's terms, and the types that a convolution computes with.
#pragma once

#include <Halide.h>

#include "workload/workload.h"

namespace kiln {

inline Halide::Type halide_type(DType dtype) {
    switch (dtype) {
        case DType::f16:
            return Halide::Float(16);
        case DType::bf16:
            return Halide::BFloat(16);
        case DType::i8:
            return Halide::Int(8);
        case DType::i32:
            return Halide::Int(32);
        case DType::u8:
            return Halide::UInt(8);
        case DType::f32:
            break;
    }
    return Halide::Float(32);
}

// Operands are converted to the sums' type when they are loaded, weights to theirs when they are packed, and results
// when they are stored. (Packed weights of quantized convolutions: generators/direct/quantized_panel.h.)
struct ConvTypes {
    explicit ConvTypes(const Workload &w)
        : operand(halide_type(w.dtype)),
          result(halide_type(w.output_dtype)),
          sum(is_quantized(w) ? Halide::Int(32) : Halide::Float(32)) {}

    Halide::Type operand, result;
    Halide::Type weight = Halide::Float(32);  // packed
    Halide::Type sum;                         // and what the epilogue adds
};

}  // namespace kiln
