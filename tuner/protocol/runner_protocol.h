// How the tuner and its measuring process talk. The tuner writes one job, a JSON object, to the process's stdin; the
// process answers with one JSON object a line on stdout:
//   {"step": "..."}     what it is about to do, so that a crash or a timeout can be placed
//   {"errors": {...}}   how far the output was from the reference, as soon as it is known
//   {"status": ...}     the end: the verdict, and for a good kernel its samples and facts
//   {"environment": ..} the end: nothing could be judged, and not for the kernel's fault
// Operands and references are raw files that the process maps read-only: no kernel can spoil what judges it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "records/measurement.h"
#include "records/trial.h"
#include "workload/result.h"

namespace kiln {

struct RunnerData {
    std::vector<std::string> operands;  // files, in the order of operand_list()
    std::string expected, magnitude;    // files of doubles
};

struct RunnerKernel {
    std::string shared_object;
    int64_t packed_bytes = 0, prepared_bytes = 0;
};

// Turns of several kernels that were judged before.
struct HeatOrder {
    int rounds = 0;                                               // 0: no heat
    uint64_t seed = 0;                                            // of the order within each round
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;  // enough for each of the kernels
};

struct RunnerJob {
    std::string workload;               // key
    std::vector<RunnerKernel> kernels;  // one, except in a heat
    int threads = 1;
    double error_budget = 0;
    CacheMode cache = CacheMode::warm;
    bool measure = true;
    SamplingLimits sampling;
    std::vector<double> cutoffs_ns;  // halving.h
    int64_t memory_limit_bytes = 0;
    HeatOrder heat;
    // Either the data to judge by, in the order ordinary, other, wide, of which a heat uses the first; or one set
    // without references whose result goes to the file `output`, unjudged.
    std::vector<RunnerData> data;
    std::string output;
};

std::string to_json(const RunnerJob &job);
Result<RunnerJob> parse_runner_job(const std::string &json);

struct RunnerAnswer {
    std::string step;  // the last one begun
    ErrorMeasures errors;
    std::optional<TrialStatus> status;  // nothing: the process ended before it could tell
    std::string message;
    std::string environment;  // not empty: the tuner's problem
    Samples samples;
    std::vector<double> sentinel_ns;  // before and after the samples
    std::vector<Samples> heat;        // by kernel, one sample a round
    std::string conditions;
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;
};

// A line that is not complete, or not ours, is skipped: the process may have died while it wrote it.
RunnerAnswer parse_runner_answer(const std::string &lines);

std::string step_line(std::string_view step);
std::string errors_line(const ErrorMeasures &errors);
std::string end_line(const RunnerAnswer &answer);

}  // namespace kiln
