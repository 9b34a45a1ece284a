// Which kernels of a network's layers race in the network (tuner/job/racing/network_race.h), and in which of its versions.
#pragma once

#include <string>
#include <vector>

#include "tuner/job/candidate_choice.h"
#include "tuner/job/racing/network_race.h"

namespace kiln {

struct LayerSteps {
    Workload workload;
    std::vector<size_t> steps;
};

// Layers with two kernels or more to choose from: the one in use, the default, and the fastest of those that were measured
// alone, all from the context's first cache mode and toolchain and for its error budget. A layer whose last race was in the same
// network, among all of these, is not raced again. Errors: the database cannot be read.
Result<std::vector<NetworkLayer>> network_field(const std::vector<LayerSteps> &layers, const std::string &network,
                                                const ChoiceContext &context);

}  // namespace kiln
