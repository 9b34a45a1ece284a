// A graph and a patch behind the C interface.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "network/alter/graph_index.h"
#include "network/alter/patch.h"
#include "network/library/alteration.h"
#include "network/library/operator_fields.h"

// Where a number names no value of the graph, all functions answer "none".
struct kiln_graph {
    explicit kiln_graph(const kiln::network::GraphIndex &of) : index(of) {}

    const kiln::network::GraphIndex &index;

    // What was asked for, so that pointers to it stay valid.
    struct Told {
        kiln::network::OperatorFields fields;
        std::vector<kiln_field> rows;
        std::vector<kiln_value> inputs;
    };
    mutable std::map<kiln_value, Told> told;
    mutable std::deque<std::string> types;
};

struct kiln_patch {
    explicit kiln_patch(const kiln::graph::Graph &graph) : patch(graph) {}

    kiln::network::Patch patch;
    std::string problem;  // the first
    bool is_empty() const { return patch.replaced().empty() && problem.empty(); }
};

namespace kiln::network {

const kiln_alteration_tools &library_tools();

}  // namespace kiln::network
