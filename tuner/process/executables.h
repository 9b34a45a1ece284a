// Other programs that kiln runs: where they are found, and what of kiln's own environment they are given.
#pragma once

#include <string>
#include <vector>

namespace kiln {

// The path of an executable in the folders of PATH, empty where there is none. Folders that do not begin with a slash are
// passed over: what lies in the current folder is whoever's who filled that folder.
std::string find_executable(const std::string &name);

// This process's variables without those that would change what is built or measured: of the dynamic linker (but for
// where libraries lie), of Halide and LLVM, of ld and of malloc. Messages of programs are in English.
std::vector<std::string> environment_of_children();

}  // namespace kiln
