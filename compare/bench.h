// Measures a layer's or a network's tuned and default kernels and its peers side by side: the engine behind `kiln bench`.
// Processes, clock and hardware come in as arguments, so that tests feed it fakes.
//
// Each has one turn in a round, and every round draws its order anew. So a slow phase of the machine meets all, and
// none always profits from the one before it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "compare/peer.h"
#include "compare/timing.h"
#include "tuner/build/builder.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/measure/network_runner.h"
#include "tuner/measure/runner.h"
#include "tuner/process/measuring_lock.h"

namespace kiln {

// A peer on one layer or network. The overhead of its calls is subtracted from its times.
struct PeerTiming {
    std::string name, version;
    std::optional<Timing> timing;
    std::vector<double> call_overheads_ns;  // one a round; already subtracted
    PeerProfile profile;                    // of a network, where asked for
    std::string profile_problem;            // why there is none
    std::string problem;                    // why there is no time
    bool is_failure = false;                // it should have one, but computed wrong numbers, failed or got lost

    double call_overhead_ns() const;  // median over rounds; precondition: there is a timing
};

struct Layer {
    std::string algorithm;
    std::optional<Timing> chosen, standard;  // tuned (or else default), and default
    bool untuned = false;
    bool is_empty = false;   // its result has no elements: there is nothing to time
    std::string problem;     // why there is no time
    std::string difference;  // from the time that is recorded of the tuned kernel, for people
    std::vector<PeerTiming> peers;
    // For data movement, and for layers whose bytes decide: a copy of as many bytes by plain stores, in the same rounds.
    std::optional<Timing> copy;

    // Whether everything asked for has a time. A peer that has no way to compute a layer has answered, too.
    bool is_complete() const;
};

// A network as it is measured: packages of tuned (or else default) and of default kernels, and what peers read.
struct BenchedNetwork {
    NetworkRunRequest chosen;
    std::optional<NetworkRunRequest> standard;  // nothing: it is the chosen one
    std::string about;                          // of its kernels
    bool untuned = false;
    PeerNetwork for_peers;
    bool profiles = false;  // of the peers, after the last round
};

// The engine works with these. All outlive it.
struct BenchTools {
    Builder &builder;
    Runner &runner;
    // Copies so many bytes for so long and answers one sample for each copy. Empty: not measured.
    std::function<std::vector<double>(int64_t bytes, int64_t budget_ns)> copy;
    // Whether a layer is timed beside a copy, with one thread. Empty: data movement is.
    std::function<bool(const Workload &workload)> is_beside_copy = nullptr;
    // While its answer lives, the machine is a peer's or a copy's alone; the runner sees to that for kernels.
    std::function<std::optional<MeasuringLock>()> alone = [] { return std::nullopt; };
};

class Bench {
public:
    Bench(const ChoiceContext &context, BenchTools tools, int rounds)
        : context_(context), tools_(std::move(tools)), rounds_(rounds) {}

    // Errors: it does not start.
    Status add(PeerSource source);

    // Errors: the environment failed, or the user stopped. A layer carries its own problems.
    Result<Layer> measure(const Workload &workload);

    // The same for a whole network, a whole call being one sample.
    Result<Layer> measure(const BenchedNetwork &network, NetworkRunner &runner);

private:
    struct Kernel {
        RunRequest request;
        Timing timing;
        std::optional<Measurement> recorded;
    };
    struct RunningPeer {
        PeerSource source;
        std::unique_ptr<Peer> peer;  // none: it was lost
    };
    using Turn = std::function<Status()>;

    Result<std::vector<Kernel>> build_kernels(const Workload &workload, Layer *layer);
    Result<std::optional<Kernel>> build(const Workload &workload, const Candidate &candidate, Layer *layer);
    using Preparation = std::function<Result<PeerLayer>(Peer &)>;
    Status prepare_peers(const Preparation &preparation, Layer *layer);
    Result<PeerTiming> prepare(RunningPeer *peer, const Preparation &preparation);
    Status take_turns(std::vector<Turn> turns, Layer *layer);
    void add_peers(std::vector<Turn> *turns, Layer *layer);
    std::vector<Turn> turns(const Workload &workload, std::vector<Kernel> *kernels, Layer *layer);
    Status measure_once(Kernel *kernel, Layer *layer);
    Status measure_once(RunningPeer *peer, PeerTiming *timing);
    void measure_copy(const Workload &workload, Layer *layer);
    Status add_profiles(Layer *layer);
    static std::string difference_of(const Kernel &kernel);
    static Status measure_once(const NetworkRunRequest &request, NetworkRunner &runner, Timing *timing, Layer *layer);

    const ChoiceContext &context_;
    BenchTools tools_;
    int rounds_;
    std::vector<RunningPeer> peers_;
    std::mt19937 order_{1};
};

}  // namespace kiln
