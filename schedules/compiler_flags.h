// What the C compiler of a soft core is told beside the source. The flags that win differ from kernel to kernel, so they are
// a knob: `flags`, a row of a table. Rows are in recorded candidates, so a row never changes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "schedules/candidate.h"

namespace kiln {

// For every kernel: code for the core, and nothing from outside.
inline const std::array<std::string, 5> soft_core_flags = {"-march=rv32im", "-mabi=ilp32", "-ffreestanding", "-std=c99",
                                                           "-ffunction-sections"};

inline constexpr int64_t compiler_flag_rows = 6;

// The flags that the candidate's knob names, or those of the first row where it has none. More follow, which keep fewer values
// alive: each is for kernels whose stack is too large with those before it.
std::vector<std::vector<std::string>> compiler_flags(const Candidate &candidate);

}  // namespace kiln
