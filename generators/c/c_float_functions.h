// Numbers with a fraction on a core that has none: functions of f32 in C, on the bits of the numbers, which are values of uint32_t.
// Each step is rounded to the nearest, halves to even, as IEEE 754 defines it, so that results are those of every other machine.
// Any NaN is as good as another.
//
// They call nothing: no library of the compiler's is needed, which a firmware may not have.
#pragma once

#include <span>
#include <string_view>

namespace kiln {

struct CFloatFunction {
    std::string_view name;
    std::string_view needs;  // the names of those that it calls itself, each with a space behind it
    std::string_view text;
};

// Each stands behind those that it needs.
std::span<const CFloatFunction> c_float_functions();

}  // namespace kiln
