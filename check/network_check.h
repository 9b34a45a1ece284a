// Puts the network of a conformance case through the whole way: import, passes, kernels, package, calls on the case's inputs.
// It owns no process: who plans, who builds and who runs are arguments, so that tests feed it fakes, and so that a plan is the one
// that `kiln build` would ship.
//
// Each network is called twice, and with one thread and with two: all of them must compute the same, bit for bit.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/conformance_check.h"
#include "check/conformance_suite.h"
#include "graph/graph.h"
#include "network/program.h"
#include "tuner/measure/network_runner.h"

namespace kiln {

// A case before anything is built. Without a program there is the reason why kiln has none.
struct PlannedNetwork {
    std::optional<network::Program> program;
    std::string reason;
};

// From a graph before any pass to a program. An error (unsupported) is what kiln cannot compute.
using PlanNetwork = std::function<Result<network::Program>(const graph::Graph &)>;

// Errors: the model cannot be read, or `plan` has one that is not unsupported. What the model has that kiln cannot compute is a
// reason.
Result<PlannedNetwork> plan_network(const NetworkCase &c, const PlanNetwork &plan);

struct BuiltNetwork {
    PackagedNetworkFiles files;
    std::vector<std::string> algorithms;              // of its kernels, each once
    size_t kernels = 0;                               // distinct ones
    bool untuned = false;                             // one of them is a default
    std::map<std::string, std::string> objects = {};  // hash of each workload's kernel, by the workload's key
};

// A network, or what stands in its way and what that makes of the case.
struct Unbuilt {
    CaseStatus status = CaseStatus::failed;
    std::string reason;
};
using NetworkBuild = std::variant<BuiltNetwork, Unbuilt>;
using BuildNetwork = std::function<Result<NetworkBuild>(const network::Program &)>;

struct NetworkCheckTools {
    BuildNetwork build;
    NetworkRunner &runner;
    std::string folder;  // for files with inputs and outputs
    int threads = 1;
};

// Precondition: the case has a network, and `planned` is that. Errors: a file of the case cannot be read, or the environment
// failed.
Result<CaseResult> check_network(const ConformanceCase &c, const PlannedNetwork &planned,
                                 const NetworkCheckTools &tools);

}  // namespace kiln
