// The type of an element in Halide's terms.
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
        case DType::f32:
            break;
    }
    return Halide::Float(32);
}

}  // namespace kiln
