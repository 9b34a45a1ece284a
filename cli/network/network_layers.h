// The layers of a network, for `kiln tune` and others.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/network/network_options.h"
#include "cli/network/network_program.h"
#include "network/layout_costs.h"
#include "network/program.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct NetworkLayers {
    std::vector<NamedWorkload> layers;  // distinct ones, with counts; names of the model's nodes, printable
    std::string note;                   // how many calls of kernels they are
};

// All workloads of the kernels of programs, which have one name.
NetworkLayers layers_of(std::span<const network::Program *const> programs);
NetworkLayers layers_of(const network::Program &program);
NetworkLayers layers_of(const NetworkPrograms &programs);

// Reads the model and calls the list like the file. Errors are those of read_program().
Result<NetworkLayers> read_layers(const NetworkOptions &options);

// What is worth tuning: kernels that the times choose; those of layouts that would cost less if their kernels, of which there
// is no time, were as fast as those that there are: by 1 % of the network's time at least; and those of both sides of
// alterations. On a soft core it is what `build` uses.
Result<NetworkLayers> read_layers_to_tune(const NetworkOptions &options, const ChoiceContext &context);

// The name of a network: its file's, without folder and extension, printable.
std::string network_name(const std::string &file);

}  // namespace kiln
