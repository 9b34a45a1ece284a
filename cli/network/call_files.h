// The files of calls of a network on random inputs: elements alone for kiln, with a header for peers.
#pragma once

#include <string>
#include <vector>

#include "compare/peer.h"
#include "graph/lower/lower.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln {

class CallFiles {
public:
    // The program outlives this object. The folder is made.
    CallFiles(const network::Program &program, std::string folder) : program_(program), folder_(std::move(folder)) {}

    // The same each time. Floats lie between -1 and 1; whole numbers and booleans are 0 or 1, which most networks take for any of
    // their inputs.
    Status write_inputs();
    // What kiln has computed, for peers.
    Status write_outputs() const;
    // Peers run the model itself, which has these inputs too.
    Status write_constants(const std::vector<graph::ConstantInput> &constants);

    PeerNetwork for_peers(const std::string &model) const;
    const std::vector<std::string> &inputs() const { return inputs_; }
    const std::vector<std::string> &outputs() const { return outputs_; }

private:
    const network::Program &program_;
    std::string folder_;
    std::vector<std::string> inputs_, outputs_;
    std::vector<PeerNetwork::Tensor> constants_;
};

}  // namespace kiln
