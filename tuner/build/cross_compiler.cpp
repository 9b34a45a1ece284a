#include "tuner/build/cross_compiler.h"

#include <fmt/format.h>

#include "tuner/process/executables.h"

namespace kiln {

Result<std::string> find_cross_tool(const std::string &name) {
    const std::string path = find_executable(name);
    if (!path.empty()) return path;
    return environment_error(fmt::format(
        "no compiler for RISC-V: `{}` is in none of the folders of PATH that begin with a slash; install the "
        "package {}",
        name, name == cross_compiler_name ? "gcc-riscv64-unknown-elf" : "binutils-riscv64-unknown-elf"));
}

}  // namespace kiln
