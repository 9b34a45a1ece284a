// A package in the process that made it: its shared library loaded, reached as a program reaches it, through the one
// function that it exports.
#pragma once

#include <string>

#include "runtime/kiln.h"
#include "runtime/result.h"
#include "tuner/package.h"

namespace kiln {

class LoadedPackage {
public:
    // Writes the package below the work folder of `parts`, which must outlive the answer. `flags` are for the system's
    // compiler ("-fsanitize=..."). Errors: the package cannot be written or loaded (environment).
    static Result<LoadedPackage> create(const Package &package, const PackageParts &parts, const std::string &flags);
    LoadedPackage(LoadedPackage &&other) noexcept;
    LoadedPackage &operator=(LoadedPackage &&) = delete;
    ~LoadedPackage();

    const kiln_package *operator*() const { return package_; }

private:
    LoadedPackage(void *library, const kiln_package *package) : library_(library), package_(package) {}

    void *library_;
    const kiln_package *package_;
};

}  // namespace kiln
