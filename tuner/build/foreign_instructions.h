// Halide compiles VNNI for the CPUs of AMD that have it (avx512_zen4), also where other CPUs are meant (avx512_icelake,
// runtime/cpu_features.h). What only those have must not be in the object: it would end a program on others.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workload/target.h"

namespace kiln {

// Whether objects for a target are compiled for CPUs that have more instructions than it says.
bool needs_check_of_instructions(const Target &target);

// The first instruction in what `objdump -d --no-show-raw-insn` prints that avx512_icelake does not have.
std::optional<std::string> foreign_instruction(std::string_view disassembly);

}  // namespace kiln
