// A package in the process that made it: its library linked into a shared object and loaded, reached as a program
// reaches it, through the one function that it exports.
#pragma once

#include <string>
#include <vector>

#include "runtime/kiln.h"
#include "runtime/result.h"
#include "tuner/package.h"

namespace kiln {

class LoadedPackage {
public:
    // `folder` must outlive the answer; `flags` are for linking (-fsanitize=...). Errors: the package cannot be
    // written, linked or loaded (environment).
    static Result<LoadedPackage> create(const Package &package, const PackageParts &parts,
                                        const std::vector<std::string> &flags);
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
