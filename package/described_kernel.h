// The kernels of a package in the words of its files. Table, header and README say the same of a kernel, so it is
// derived once, here.
#pragma once

#include <string>
#include <vector>

#include "package/kernel_descriptor.h"
#include "package/package.h"

namespace kiln {

struct DescribedKernel {
    const PackagedKernel *kernel;  // of the package, which outlives this
    std::string key;
    std::string layer;  // "list/name"; a name is for people, as in `kiln tune --filter`
    InterfaceForm form;
    uint64_t cpu_features = 0;
};

// The kernels keep the package's order. Errors: a workload or target that packages cannot hold (unsupported).
Result<std::vector<DescribedKernel>> describe_kernels(const Package &package);

}  // namespace kiln
