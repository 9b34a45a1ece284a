// A peer as a process: a small program (bench/peers) runs another library's convolution or network. It lives as long as this
// object and answers each line of JSON with one line. Its protocol is at the head of bench/peers/peer_protocol.py.
//
// Whatever a peer does wrong (garbage, an end in the middle, no answer in time), the caller gets an error that names
// the peer and ends with its last words on stderr. After an error the process is gone; start another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compare/peer.h"
#include "workload/result.h"
#include "workload/workload.h"

namespace kiln {

struct PeerProgram {
    std::string name;
    std::vector<std::string> arguments;  // [0] is the path of the executable
    std::optional<int> cpu;              // pin it to this one
    int64_t start_limit_ns = 60'000'000'000;
    int64_t answer_limit_ns = 120'000'000'000;
};

class PeerProcess : public Peer {
public:
    // Errors: interrupted, or environment for all else.
    static Result<PeerProcess> start(const PeerProgram &program);
    Result<PeerLayer> prepare(const Workload &workload, int threads) override;
    Result<PeerLayer> prepare(const PeerNetwork &network, int threads) override;
    Result<PeerRound> round(int64_t budget_ns) override;
    Result<PeerProfile> profile() override;

    const std::string &name() const;
    const std::string &version() const override;

    PeerProcess(PeerProcess &&) noexcept;
    PeerProcess &operator=(PeerProcess &&) noexcept;
    ~PeerProcess() override;

private:
    struct State;
    explicit PeerProcess(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

PeerSource source_of(const PeerProgram &program);

}  // namespace kiln
