// The peers that `kiln bench --against` knows, and the places of their programs and their Python.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/peer_process.h"
#include "workload/result.h"

namespace kiln {

// Reads "onednn,openvino" as names. Errors (usage): an unknown name or one given twice.
Result<std::vector<std::string>> parse_peers(const std::string &against);

// `repository` holds bench/peers and .peers; empty: the one that `executables` was built in, two folders above. Errors
// (environment): bench/peers or .peers is missing, or somebody else could have changed them (compare/trusted_path.h).
Result<std::vector<PeerProgram>> find_peers(const std::vector<std::string> &names, const std::string &repository,
                                            const std::string &executables);

}  // namespace kiln
