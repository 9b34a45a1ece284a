// Runs built kernels: correctness first, then time. The real runner is a process of its own with time and memory limits
// (tuner/measure/process_runner.h); tests use fakes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "records/measurement.h"
#include "records/trial.h"
#include "tuner/build/builder.h"
#include "tuner/measure/drift.h"
#include "workload/result.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

// Facts about who measures. That need not be the machine that kiln runs on: it may be another board or an emulator. The
// parts of the loop that depend on the way of measuring ask here.
struct RunnerTraits {
    Metric metric = Metric::ns;  // of all samples and times below
    bool is_noisy = true;        // samples of one kernel differ, so that close medians are decided by races
    bool judges_finalists =
        false;            // samples of run() come from a model, and those of heat() from the real thing: one each
    std::string machine;  // key(Machine) of who measures: what the database compares
};

// Asked while a kernel waits for its turn, and while what it is judged by is computed. True: nobody wants the result
// any more, and the request ends with an interrupt. Empty: it is wanted however long that takes.
using OutOfTime = std::function<bool()>;

struct RunRequest {
    Workload workload;
    Target target;
    Artifact artifact;
    double error_budget = default_error_budget;  // of ErrorMeasures::max and wide
    CacheMode cache = CacheMode::warm;
    bool measure = true;             // false: correctness only, no samples
    std::vector<double> cutoffs_ns;  // where a slow kernel's sampling ends early, see halving.h; metric ns only
    int64_t patience_ns = 0;         // with a machine that is too busy: samples are taken again after pauses
    OutOfTime out_of_time = {};
};

// A kernel whose whole output was right, before timing, after it on other inputs, and at the full thread count.
struct RunReport {
    ErrorMeasures errors;
    Samples samples;         // empty unless measured
    std::string conditions;  // JSON, see Measurement
    SentinelReading sentinel;
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;
};

using RunResult = Attempt<RunReport>;

// Turns of kernels that were judged before, in one process.
struct HeatRequest {
    Workload workload;
    Target target;
    std::vector<Artifact> artifacts;
    CacheMode cache = CacheMode::warm;
    int rounds = 1;
    uint64_t seed = 1;                                            // of the order within each round
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;  // the most that one of them needs
    OutOfTime out_of_time = {};
};

struct HeatReport {
    std::vector<Samples> times;  // by artifact, one sample a round
    std::string conditions;      // JSON, see Measurement
};

// A call that is not judged, see ProcessRunner::execute().
struct ExecuteRequest {
    Workload workload;
    Target target;
    Artifact artifact;
};

class Runner {
public:
    virtual ~Runner() = default;

    virtual const RunnerTraits &traits() const = 0;

    // Errors are for what no kernel could be blamed for: no runner executable, no memory for the operands, an
    // interrupt.
    virtual Result<RunResult> run(const RunRequest &request) = 0;
    virtual Result<Attempt<HeatReport>> heat(const HeatRequest &request) = 0;
};

}  // namespace kiln
