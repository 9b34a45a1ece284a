// The name of a package. It names the library, the headers, a C function and CMake targets, so it must not be one that
// these have already.
#pragma once

#include <string>

#include "workload/result.h"

namespace kiln {

// A name is like "kiln_kernels" or "resnet50": at most 64 lower-case letters, digits and underscores, and it begins with
// no digit. Errors (usage) say what else has the name.
Status check_package_name(const std::string &name);

}  // namespace kiln
