// What may take the place of nodes of a network without changing what it computes, but for rounding. Whether it does is decided
// by what it costs (network/alter/alter.h), at each place on its own.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "network/alter/graph_index.h"
#include "network/alter/patch.h"

namespace kiln::network {

struct Alteration {
    std::string name, summary;
    // Patches for the place at which the node stands, each of them another way; none where it does not apply. They replace
    // values by values of the same form. An error (a user's alteration) names the node.
    std::function<Result<std::vector<Patch>>(const GraphIndex &, const graph::Node &)> at;
    // How much less than its estimate it may cost in the eyes of `tune`: estimates know nothing of what makes it faster.
    double hope = 1;
    // How much more than its estimate it may cost where something ships that nobody measured: estimates know nothing of what makes
    // it slower.
    double doubt = 1;
    // The file of a user's library that it comes from; empty for kiln's. Results of a user's are compared with those of the
    // nodes that it replaces before it is chosen.
    std::string library = {};
};

// kiln's own, in the order in which they are tried. Beside them, passes that are optional (graph/passes/passes.h) are
// alterations, too, which apply to the whole network at once.
std::span<const Alteration> alterations();

struct AlterationName {
    std::string name, summary;
};
std::vector<AlterationName> alteration_names();  // all of kiln, passes first

// In the file of its name, each.
std::vector<Patch> side_by_side(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> space_to_depth(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> pool_before_convolution(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> fuse_prologues(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> separable(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> split_by_taps(const GraphIndex &graph, const graph::Node &node);
std::vector<Patch> shuffled_channels(const GraphIndex &graph, const graph::Node &node);

}  // namespace kiln::network
