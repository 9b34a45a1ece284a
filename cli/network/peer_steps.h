// What peers spend on the steps of a network: their nodes are others than kiln's steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/peer.h"
#include "network/program.h"

namespace kiln {

struct PeerSteps {
    std::string peer;
    std::vector<std::optional<double>> ns;  // of each step; nothing: the peer computes none of its nodes apart
    double elsewhere_ns = 0;                // on what no step computes, as reorders that the library adds
    double all_ns = 0;
};

// A node that computes those of several steps counts for the one that has most of them; of these for the one with most operations,
// as what only moves data for a convolution has its nodes, too.
PeerSteps peer_steps(const std::string &peer, const PeerProfile &profile, const network::Program &program);

}  // namespace kiln
