// How the tuner and its measuring process talk. The tuner writes one job, a JSON object, to the process's stdin; the
// process answers with one JSON object a line on stdout:
//   {"step": "..."}     what it is about to do, so that a crash or a timeout can be placed
//   {"errors": {...}}   how far the output was from the reference, as soon as it is known
//   {"status": ...}     the end: the verdict, and for a good kernel its samples and facts
//   {"environment": ..} the end: nothing could be judged, and not for the kernel's fault
// Operands and references are raw files that the process maps read-only: no kernel can spoil what judges it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "records/measurement.h"
#include "records/trial.h"
#include "simulate/core_description.h"
#include "workload/result.h"

namespace kiln {

// What every job says of the calls that it asks for.
struct RunnerCall {
    std::string workload;  // key; empty for a network
    int threads = 1;
    int64_t memory_limit_bytes = 0;
    std::optional<CoreDescription> core;  // what is simulated; nothing: this machine runs the kernel itself
    bool operator==(const RunnerCall &) const = default;
};

struct RunnerKernel {
    std::string shared_object;
    int64_t packed_bytes = 0, prepared_bytes = 0;
    int64_t workspace_bytes = 0, text_bytes = 0, rodata_bytes = 0;  // of a kernel for a soft core
    std::string shared_code;                                        // as in Artifact
    bool operator==(const RunnerKernel &) const = default;
};

using OperandPaths = std::vector<std::string>;  // files, in the order of operand_list()

struct RunnerData {
    OperandPaths operands;
    std::string expected, magnitude;  // files of doubles
    bool operator==(const RunnerData &) const = default;
};
// All that a kernel is judged by: ordinary data, other ordinary data, data of wide range.
struct JudgingData {
    RunnerData ordinary, other, wide;
    bool operator==(const JudgingData &) const = default;
};

struct SamplingOrder {
    CacheMode cache = CacheMode::warm;
    SamplingLimits limits;
    std::vector<double> cutoffs_ns;  // halving.h
    int64_t patience_ns = 0;         // with a machine that is too busy, see sampling.h
    int64_t memory_bytes = 0;        // of the operands, through which the memory sentinel walks; 0: there is none
    bool operator==(const SamplingOrder &) const = default;
};

// Is the kernel right, and how fast?
struct JudgeJob {
    RunnerCall call;
    RunnerKernel kernel;
    double error_budget = 0;
    std::optional<SamplingOrder> sampling;  // nothing: correctness only
    JudgingData data;
    bool operator==(const JudgeJob &) const = default;
};

// Kernels for a soft core on something else than its model, such as its hardware description: a program of the user's, which
// gets an executable (Simulator::program_of()) and prints what it counted.
struct CoreJudge {
    std::string path;           // of that program
    std::string program;        // of the executables, each is written there
    int64_t time_limit_ns = 0;  // of one
    bool operator==(const CoreJudge &) const = default;
};

// Turns of several kernels that were judged before.
struct HeatJob {
    RunnerCall call;
    std::vector<RunnerKernel> kernels;
    CacheMode cache = CacheMode::warm;
    int rounds = 1;
    uint64_t seed = 0;                                            // of the order within each round
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;  // enough for each of the kernels
    OperandPaths operands;
    int64_t memory_bytes = 0;        // as in SamplingOrder
    std::optional<CoreJudge> judge;  // with a core only: who counts, one round
    bool operator==(const HeatJob &) const = default;
};

// One call. Its result goes to a file and is not judged.
struct ExecuteJob {
    RunnerCall call;
    RunnerKernel kernel;
    OperandPaths operands;
    std::string output;
    std::optional<CoreJudge> judge;  // with a core only: where the same call must compute the same
    bool operator==(const ExecuteJob &) const = default;
};

// No kernel yet: writes the files that the workload's kernels will be judged by.
struct PrepareJob {
    RunnerCall call;
    JudgingData data;
    bool operator==(const PrepareJob &) const = default;
};

// Weights as a kernel packs them, from file to file. What it leaves out is zero.
struct PackJob {
    RunnerCall call;
    RunnerKernel kernel;
    std::string weights, packed;
    bool operator==(const PackJob &) const = default;
};

// Calls of a whole network, through the interface of its package. Files hold the elements in row-major order.
struct NetworkJob {
    RunnerCall call;                           // without a workload
    std::string library;                       // lib<name>.so, which has <name>_network
    std::string weights;                       // a file; empty: the library holds them
    std::vector<std::string> inputs, outputs;  // in the order of the network's; no outputs: none are kept
    int repeats = 1;                           // calls whose results must equal those of the first bit for bit
    bool compare_threads = false;              // and those of one thread and of two
    std::optional<SamplingOrder> sampling;     // nothing: not timed
    int step_calls = 0;                        // further calls, in which each step is timed
    bool operator==(const NetworkJob &) const = default;
};

using RunnerJob = std::variant<JudgeJob, HeatJob, ExecuteJob, PrepareJob, PackJob, NetworkJob>;

const RunnerCall &call_of(const RunnerJob &job);

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
    std::vector<Samples> steps;       // by step of a network, one sample a call
    std::string conditions;
    int64_t workspace_bytes = 0, workspace_bytes_per_thread = 0;
};

// A line that is not complete, or not ours in any field, is skipped whole: the process may have died while it wrote it, and
// a kernel may have written over what it says.
RunnerAnswer parse_runner_answer(const std::string &lines);

std::string step_line(std::string_view step);
std::string errors_line(const ErrorMeasures &errors);
std::string end_line(const RunnerAnswer &answer);

}  // namespace kiln
