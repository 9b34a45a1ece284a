// One function of a kernel as C: loops, stores, conditions.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>

#include "generators/c/c_expression.h"

namespace kiln {

struct CFunction {
    std::string text;
    int64_t workspace_bytes = 0;
};

CFunction c_function(const Halide::Internal::LoweredFunc &function, CPrelude &prelude);

}  // namespace kiln
