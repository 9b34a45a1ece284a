// The layers of a network, for `kiln tune` and others, and words for what is left out of them.
#pragma once

#include <string>
#include <vector>

#include "cli/network/network_options.h"
#include "graph/graph.h"
#include "workload/lists/workload_list.h"

namespace kiln {

struct NetworkLayers {
    std::vector<NamedWorkload> layers;  // distinct ones, with counts; names of the model's nodes, printable
    std::string note;                   // how many nodes they are, and what is none
};

NetworkLayers layers_of(const graph::Graph &graph);

// Reads the model, runs all passes, and calls the list like the file. Errors are those of read().
Result<NetworkLayers> read_layers(const NetworkOptions &options);

// The name of a network: its file's, without folder and extension, printable.
std::string network_name(const std::string &file);

}  // namespace kiln
