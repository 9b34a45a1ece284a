// A package's shared library in this process, reached as a program reaches it, through the one function that it
// exports.
#pragma once

#include <memory>
#include <string>

#include "runtime/kiln.h"
#include "workload/result.h"

namespace kiln {

class LoadedPackage {
public:
    // Of `lib<name>.so`, which has `<name>_package`. Errors: it cannot be loaded, or is none (bad_input).
    static Result<LoadedPackage> load(const std::string &library);

    const kiln_package *operator*() const { return package_; }

private:
    struct Close {
        void operator()(void *library) const;
    };

    std::unique_ptr<void, Close> library_;
    const kiln_package *package_ = nullptr;
};

}  // namespace kiln
