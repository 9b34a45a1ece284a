// Writes packages for soft cores: C sources that any firmware compiles, and what is known of them. docs/soft_cores.md
// describes the files.
#pragma once

#include <string>

#include "package/package.h"

namespace kiln {

// As write_package(): at the end the folder takes the output's place. Every file is compiled and checked before
// (c_object_checks.h). Precondition: every kernel is for a soft core, and was simulated. Answers the package with what the
// checks found.
Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder);

}  // namespace kiln
