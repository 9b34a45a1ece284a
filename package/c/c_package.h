// Writes packages for soft cores: C sources that any firmware compiles, and what is known of them. docs/soft_cores.md
// describes the files.
#pragma once

#include <string>
#include <vector>

#include "package/c/c_layer.h"
#include "package/c/c_object_checks.h"
#include "package/package.h"

namespace kiln {

// As write_package(): at the end the folder takes the output's place. Every file is compiled and checked before
// (c_object_checks.h). Precondition: every kernel is for a soft core, and was simulated. Answers the package with what the
// checks found.
Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder);

// What the checks found, in the order of the layers and of shared_code(). A layer's stack is that of its call, whoever has the
// code; its bytes are those of its own.
struct CPackageFacts {
    std::vector<CObjectFacts> layers, shared;
};

// Writes header and sources of the layers into a folder, compiles and checks them there: OBJECT is FUNCTION.o.
Result<CPackageFacts> compile_layers(const Package &package, const std::vector<CLayer> &layers,
                                     const std::string &folder);

}  // namespace kiln
