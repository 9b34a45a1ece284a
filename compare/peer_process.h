// A peer: another library's convolution, run by a small program of its own (bench/peers) that lives as long as this
// object and answers one JSON line to each. Its protocol is at the head of bench/peers/peer_protocol.py.
//
// Whatever a peer does (garbage, an end in the middle, no answer in time), the caller gets an error that names the peer
// and ends with what it last said on stderr. After an error the process is gone; start another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workload/result.h"
#include "workload/workload.h"
#include "records/measurement.h"

namespace kiln {

struct PeerProgram {
    std::string name;
    std::vector<std::string> arguments;  // [0] is the path of the executable
    std::optional<int> cpu;              // pin it to this one
    int64_t start_limit_ns = 60'000'000'000;
    int64_t answer_limit_ns = 120'000'000'000;
};

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

class PeerProcess {
public:
    // Errors: interrupted, or environment for all else.
    static Result<PeerProcess> start(const PeerProgram &program);
    Result<PeerLayer> prepare(const Workload &workload, int threads);
    Result<PeerRound> round(int64_t budget_ns);  // precondition: prepare() without refusal

    const std::string &name() const;
    const std::string &version() const;

    PeerProcess(PeerProcess &&) noexcept;
    PeerProcess &operator=(PeerProcess &&) noexcept;
    ~PeerProcess();

private:
    struct State;
    explicit PeerProcess(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace kiln
