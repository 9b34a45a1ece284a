// From a network's program to a package: kernels for each target, weights packed by them, and the plan that ties both
// together.
//
// The same program, kernels and targets give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "network/program.h"
#include "package/package.h"
#include "package/package_kernels.h"
#include "tuner/measure/weights_packer.h"
#include "workload/result.h"
#include "workload/target.h"

namespace kiln {

struct NetworkPackageRequest {
    const network::Program &program;
    std::vector<Target> targets;
    std::string name;  // of the library
    bool embeds_weights = false;
    const network::Program *preparation = nullptr;  // of the network's inputs; its constants are always embedded
};

struct NetworkPackageTools {
    const CollectEnvironment &environment;
    WeightsPacker &packer;
    const PackageParts &parts;  // the weights lie in the work folder until write_package() has taken them
};

// The package without what the caller knows: `toolchain`, `database`, `database_digest`, `fallback`. Its kernels keep the
// order of the collected ones. Precondition: this machine runs the targets. Errors: steps that no kernel computes, all of
// them at once (unsupported); those of the job.
Result<Package> make_network_package(const NetworkPackageRequest &request, const NetworkPackageTools &tools,
                                     const CollectListener &listener);

}  // namespace kiln
