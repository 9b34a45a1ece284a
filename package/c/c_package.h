// Writes packages for soft cores: C sources that any firmware compiles, and what is known of them. docs/soft_cores.md
// describes the files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "package/c/c_package_texts.h"
#include "package/package.h"
#include "workload/result.h"

namespace kiln {

// What a package's folder holds beside its manifest, whatever the package is of.
struct CPackageContent {
    std::function<Status(const std::filesystem::path &folder)> write_sources;  // header and C files
    std::vector<CFile> sources;
    std::string readme;
};

// Writes a folder that takes the place of `folder` at the end.
Status write_c_folder(const Package &package, const CPackageContent &content, const PackageParts &parts,
                      const std::string &folder);

// As write_package(): a package of layers. Every file is compiled and checked before (c_object_checks.h). Precondition:
// every kernel is for a soft core, and was simulated. Answers the package with what the checks found.
Result<Package> write_c_package(Package package, const PackageParts &parts, const std::string &folder);

}  // namespace kiln
