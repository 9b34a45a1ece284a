// A whole network under the clock of `kiln bench`: kiln's packages, and the peers that read its model.
#pragma once

#include <string>
#include <vector>

#include "cli/network/network_workshop.h"
#include "compare/bench.h"
#include "graph/lower/lower.h"
#include "network/program.h"

namespace kiln {

struct NetworkBenchParts {
    NetworkWorkshop &chosen;                           // with what the database has
    NetworkWorkshop *standard;                         // default kernels alone; null: `chosen` has no others
    bool steps = false;                                // each step under the clock, too
    std::vector<graph::ConstantInput> constants = {};  // inputs of the model that the program does not have
};

// On random inputs, which all of them get; peers must compute what kiln does before they are timed. A network without a package
// has a problem. Errors: the environment failed, or the user stopped.
struct BenchedSteps {
    Layer whole;
    std::vector<double> step_ns;  // of the chosen package, medians; empty unless asked for
};
Result<BenchedSteps> bench_network(const network::Program &program, const std::string &model, int threads,
                                   const NetworkBenchParts &parts, Bench &bench);

}  // namespace kiln
