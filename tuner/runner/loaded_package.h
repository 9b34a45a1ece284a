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
    // Loads `lib<name>.so`, which has `<name>_package`, and `<name>_network` if it holds one. Errors: it cannot be loaded, or
    // is none (bad_input).
    static Result<LoadedPackage> load(const std::string &library);

    const kiln_package *operator*() const { return package_; }
    const kiln_network *network() const { return network_; }  // null: it holds none

private:
    struct Close {
        void operator()(void *library) const;
    };

    std::unique_ptr<void, Close> library_;
    const kiln_package *package_ = nullptr;
    const kiln_network *network_ = nullptr;
};

}  // namespace kiln
