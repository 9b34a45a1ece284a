// Runs networks: the library and the weights of a package, loaded and called as a program would. The real one is a process
// of its own with limits of time and memory; tests use fakes.
//
// Buffers end at guard pages, inputs and weights are read-only, and outputs are NaN before each call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "records/measurement.h"
#include "tuner/build/attempt.h"
#include "tuner/measure/drift.h"
#include "tuner/measure/process_runner.h"
#include "workload/result.h"

namespace kiln {

// A library that exports NAME_network(), and its weights.
struct PackagedNetworkFiles {
    std::string library;  // DIR/lib/libNAME.so
    std::string weights;  // DIR/lib/NAME.weights; empty: the library holds them
};

struct NetworkRunRequest {
    PackagedNetworkFiles files;
    int threads = 1;
    // Files in the order of the network's inputs and outputs, elements in row-major order; whole tensors.
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;        // written; empty: outputs are not kept
    int repeats = 1;                         // calls whose outputs must equal those of the first, bit for bit
    bool compare_threads = false;            // they must equal those of one thread and of two threads, too
    std::optional<SamplingLimits> sampling;  // nothing: not timed
    CacheMode cache = CacheMode::warm;       // cold: weights and activations are out of the caches before each call
    int step_calls = 0;                      // further calls, in which each step is timed
    OutOfTime out_of_time = {};
};

struct NetworkRunReport {
    Samples samples;         // ns of one call each; empty unless timed
    std::string conditions;  // JSON, see Measurement
    SentinelReading sentinel;
    int64_t workspace_bytes = 0;  // for that number of threads
    std::vector<Samples> steps;   // ns of each step of the package's variant, one sample a call; empty unless asked for
};

class NetworkRunner {
public:
    virtual ~NetworkRunner() = default;

    // A failure is the network's: `refused` (the package says why it does not bind or run), `wrong_result` (outputs that
    // differ between calls or numbers of threads), `unstable`, `crash`, `timeout`, `out_of_memory`. Errors are for what it
    // cannot be blamed for: no executable, an input file that is missing or has another size, an interrupt.
    virtual Result<Attempt<NetworkRunReport>> run(const NetworkRunRequest &request) = 0;
};

// A measuring process for each request. Of the options, `time_limit_ns` holds for the whole request.
class ProcessNetworkRunner : public NetworkRunner {
public:
    explicit ProcessNetworkRunner(ProcessRunnerOptions options) : options_(std::move(options)) {}

    Result<Attempt<NetworkRunReport>> run(const NetworkRunRequest &request) override;

private:
    ProcessRunnerOptions options_;
};

}  // namespace kiln
