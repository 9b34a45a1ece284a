// The layers that a command works on: those of workload lists, or those of a network.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/network/network_layers.h"
#include "cli/network/network_options.h"

namespace kiln {

// --workloads FILE... or --network M.onnx with --shape, and --filter for both: a network is a list that is called like its file.
struct LayerOptions {
    WorkloadOptions workloads;
    NetworkOptions network;

    bool of_network() const { return !network.file.empty(); }
};
void add_options(CLI::App &command, LayerOptions &options);

// One of both is given, and what belongs to it.
Status check(const LayerOptions &options);

// Those of a network are the distinct ones, with their counts. An error of a model may have several lines, see fail().
Result<std::vector<NamedWorkload>> read(const LayerOptions &options);
// Those of a network that --filter leaves.
Result<std::vector<NamedWorkload>> filtered(const LayerOptions &options, NetworkLayers network);
// What is worth tuning of them, by the times that there are (cli/network/network_layers.h).
Result<std::vector<NamedWorkload>> read_to_tune(const LayerOptions &options, const ChoiceContext &context);
int fail(const LayerOptions &options, const Error &error);

// The options as somebody types them again, for the command that comes next.
std::string command_text(const LayerOptions &options);

}  // namespace kiln
