// One function of a kernel as C: loops, stores, conditions.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <string>
#include <vector>

#include "generators/c/c_expression.h"

namespace kiln {

struct CFunction {
    std::string text;
    int64_t workspace_bytes = 0;
};

// What a function does with the array `constants` of int32_t, in the place of its first buffer that lies there.
struct CForm {
    // A buffer of the function that lies in the array, from this word on: a number, or an expression of sizes.
    struct Member {
        std::string buffer;
        Halide::Expr offset;
    };
    // A size that the function takes at run time: a number in the array. `value` is that of the layer at hand, for which the
    // workspace is counted; the text does not depend on it.
    struct Size {
        std::string name;
        int64_t offset = 0, value = 0;
    };
    // An operand of the function's that it copies there beside what its loops do.
    struct Copy {
        std::string name;
        Halide::Type type;
        int64_t elements = 0, offset = 0;
    };
    std::vector<Member> members;
    std::vector<Size> sizes;
    std::vector<Copy> copies;
    bool writes = false;       // the array, else it reads it
    bool may_overlap = false;  // an output may lie where an input does
};

CFunction c_function(const Halide::Internal::LoweredFunc &function, CPrelude &prelude, const CForm &form = {});

// One that does nothing but copy.
CFunction c_copying_function(const std::string &name, const CForm &form);

}  // namespace kiln
