// Packages of whole networks for soft cores. docs/soft_cores.md describes the files.
#pragma once

#include <string>

#include "network/program.h"
#include "package/package.h"
#include "package/package_kernels.h"
#include "simulate/core_description.h"
#include "tuner/budget/kernel_choice.h"
#include "workload/result.h"

namespace kiln {

struct CNetworkRequest {
    const network::Program &program;
    Target target;  // a soft core
    CoreDescription core;
    std::string name;
    MemoryBudget budget;  // of all code but that of constants which are packed
    std::string work_folder;
};

// The package with its kernels, without what the caller knows (`toolchain`, `database`, `database_digest`). Errors
// (unsupported): nodes that no kernel computes, a line each with the reason; nothing meets the budget.
Result<Package> make_c_network(const CNetworkRequest &request, const CollectEnvironment &environment,
                               const CollectListener &listener);

// Writes the package of make_c_network(). All of its files are compiled, and the network runs in simulation beside its
// references, before they take the folder's place. Answers the package with what was found.
Result<Package> write_c_network_package(Package package, const CoreDescription &core, const PackageParts &parts,
                                        const std::string &folder);

}  // namespace kiln
