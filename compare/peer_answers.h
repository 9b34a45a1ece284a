// What peers answer, one JSON object a line. A peer is a program of somebody else: its answers are read strictly, and what
// is wrong with one is said in a few words.
#pragma once

#include <string>
#include <string_view>

#include "compare/peer.h"
#include "workload/result.h"

namespace kiln {

// The version that the greeting of the peer `name` tells.
Result<std::string> parse_peer_greeting(std::string_view line, std::string_view name);
Result<PeerLayer> parse_peer_layer(std::string_view line);
Result<PeerRound> parse_peer_round(std::string_view line);
Result<PeerProfile> parse_peer_profile(std::string_view line);

}  // namespace kiln
