// Where the sources and the built programs are. Functions rather than definitions of the compiler, so that no other
// object of the tests depends on the folder that they are built in.
#pragma once

#include <string>

namespace kiln {

const std::string &source_dir();
const std::string &binary_dir();  // of kiln, kiln-generator, kiln-runner

}  // namespace kiln
