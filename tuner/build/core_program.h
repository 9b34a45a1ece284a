// Programs for a simulated core: what the linker is told, and what every program is linked with.
#pragma once

#include <string>
#include <vector>

#include "workload/result.h"

namespace kiln {

// memcpy and memset, which compilers call on their own: C.
extern const char *const core_memory_functions;

// Writes what link_command() needs beside `memory.o`, an object of core_memory_functions in the same folder.
Status write_core_files(const std::string &folder);

// Objects become a program that begins at function `entry`.
struct CoreProgram {
    std::string entry;
    std::vector<std::string> objects;
    std::string program;  // written
};
std::vector<std::string> link_command(const std::string &linker, const std::string &folder, const CoreProgram &program);

}  // namespace kiln
