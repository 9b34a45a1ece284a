// Runs built kernels: correctness first, then time. The real runner is a process of its own with time and memory limits
// (tuner/process_runner.h); tests use fakes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "database/trial.h"
#include "runtime/result.h"
#include "runtime/target.h"
#include "runtime/workload.h"
#include "tuner/builder.h"
#include "tuner/measurement.h"

namespace kiln {

struct RunRequest {
    Workload workload;
    Target target;
    Artifact artifact;
    double error_budget = default_error_budget;  // of ErrorMeasures::max and wide
    CacheMode cache = CacheMode::warm;
    bool measure = true;  // false: correctness only, no samples
};

// A kernel whose whole output was right, before timing, after it on other inputs, and at the full thread count.
struct RunReport {
    ErrorMeasures errors;
    Samples samples;         // empty unless measured
    std::string conditions;  // JSON, see Measurement
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

class Runner {
public:
    virtual ~Runner() = default;

    // Errors are for what no kernel could be blamed for: no runner executable, no memory for the operands, an
    // interrupt.
    virtual Result<RunResult> run(const RunRequest &request) = 0;
};

}  // namespace kiln
