// A peer: another library's convolution or network, made ready for one at a time and timed in rounds. The real one is a
// process of its own (compare/peer_process.h); tests use fakes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "records/measurement.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

// A layer made ready. Without `refusal` its numbers were right on a sample of the output.
struct PeerLayer {
    std::string about;  // implementation and layout that the library chose
    enum class Refusal { none, unsupported, wrong_numbers, failed } refusal = Refusal::none;
    std::string reason;
};

struct PeerRound {
    Samples samples_ns;           // of whole calls
    double call_overhead_ns = 0;  // of such a call without work, in the same round
};

// A whole network for a peer: files that it reads. Its outputs must be kiln's, which are there already.
struct PeerNetwork {
    struct Tensor {
        std::string name, file;  // a .npy file
    };
    std::string model;  // the ONNX file
    std::vector<Tensor> inputs, outputs;
};

// What a library spends on one of its nodes in a run of a network, by its own clock.
struct PeerNode {
    std::vector<std::string>
        names;  // of the model's nodes that it computes; empty: what the library added, as reorders
    double ns = 0;
};
using PeerProfile = std::vector<PeerNode>;

class Peer {
public:
    virtual ~Peer() = default;

    // After an error the peer is lost; start another.
    virtual Result<PeerLayer> prepare(const Workload &workload, int threads) = 0;
    virtual Result<PeerLayer> prepare(const PeerNetwork &network, int threads) = 0;
    virtual Result<PeerRound> round(int64_t budget_ns) = 0;  // precondition: prepare() without refusal
    virtual Result<PeerProfile> profile() = 0;               // precondition: prepare() of a network without refusal
    virtual const std::string &version() const = 0;
};

// How to start a peer, again and again where it is lost.
struct PeerSource {
    std::string name;
    std::function<Result<std::unique_ptr<Peer>>()> start;
};

}  // namespace kiln
