// Runs built kernels: correctness first, then time. The real runner is a process of its own with time and memory limits
// (tuner/measure/process_runner.h); tests use fakes.
#pragma once

#include <cstdint>
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

struct RunRequest {
    Workload workload;
    Target target;
    Artifact artifact;
    double error_budget = default_error_budget;  // of ErrorMeasures::max and wide
    CacheMode cache = CacheMode::warm;
    bool measure = true;             // false: correctness only, no samples
    std::vector<double> cutoffs_ns;  // where a slow kernel's sampling ends early, see halving.h
};

// A kernel whose whole output was right, before timing, after it on other inputs, and at the full thread count.
struct RunReport {
    ErrorMeasures errors;
    Samples samples;         // empty unless measured
    std::string conditions;  // JSON, see Measurement
    SentinelReading sentinel;
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;
};

struct RunResult {
    std::variant<RunReport, Failure> outcome;
    ErrorMeasures errors;  // also of a wrong result, as far as it got
    int64_t wall_ns = 0;

    bool ok() const { return std::holds_alternative<RunReport>(outcome); }
    const RunReport &report() const { return std::get<RunReport>(outcome); }
    const Failure &failure() const { return std::get<Failure>(outcome); }
};

// Turns of kernels that were judged before, in one process.
struct HeatRequest {
    Workload workload;
    Target target;
    std::vector<Artifact> artifacts;
    CacheMode cache = CacheMode::warm;
    int rounds = 1;
    uint64_t seed = 1;                                            // of the order within each round
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;  // the most that one of them needs
};

struct HeatReport {
    std::vector<Samples> times;  // by artifact, one sample a round
    std::string conditions;      // JSON, see Measurement
};

class Runner {
public:
    virtual ~Runner() = default;

    // Errors are for what no kernel could be blamed for: no runner executable, no memory for the operands, an
    // interrupt.
    virtual Result<RunResult> run(const RunRequest &request) = 0;
    virtual Result<std::variant<HeatReport, Failure>> heat(const HeatRequest &request) = 0;
};

}  // namespace kiln
