// The end of `kiln tune --network`: the kernels that are fastest alone race in the network, and what wins there is the best from
// then on (tuner/job/racing/network_race.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/network/network_workshop.h"
#include "network/program.h"
#include "tuner/job/racing/network_race.h"

namespace kiln {

struct NetworkRaceJob {
    const network::Program &program;
    const ChoiceContext &context;  // by which kernels are chosen; its store is `store`
    TrialStore &store;
    Workshop &workshop;
    const PackageParts &parts;
    NetworkRaceTime time;
    std::function<std::string()> timestamp;        // UTC, ISO 8601 with milliseconds
    std::function<void(const std::string &)> say;  // how far it is
};

struct NetworkRaceReport {
    std::vector<NetworkKernel> changes = {};  // the winners that were not in use before, once they are
    std::string text = {};                    // what came out; empty: there was nothing to race
};

// Where kernels change, the network with all of them is timed beside the network before. If it is slower, nothing is recorded.
// Errors: the job cannot go on, or the user stopped.
Result<NetworkRaceReport> race_kernels(const NetworkRaceJob &job);

}  // namespace kiln
