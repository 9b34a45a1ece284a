// The C compiler for soft cores, a Debian package of its own. Packages are meant for it, and say so.
#pragma once

#include <string>

#include "workload/result.h"

namespace kiln {

inline constexpr const char *cross_compiler_name = "riscv64-unknown-elf-gcc";
inline constexpr const char *cross_linker_name = "riscv64-unknown-elf-ld";

// The path of one of these. Errors (environment): it is not there; the message names the package to install.
Result<std::string> find_cross_tool(const std::string &name);

}  // namespace kiln
