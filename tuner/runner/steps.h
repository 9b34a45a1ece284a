// What the measuring process does with a job, step by step: correctness before time, and again after it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tuner/protocol/runner_protocol.h"
#include "workload/workload.h"

namespace kiln {

using SendLine = std::function<void(const std::string &)>;

// Ends of a job: what was to be done failed, or could not be tried.
RunnerAnswer failed(TrialStatus status, std::string message);
RunnerAnswer environment_failed(const Error &error);

using End = std::optional<RunnerAnswer>;  // of a job; nothing: it goes on

// The output of one call beside what was expected of it.
struct JudgedOutput {
    const Workload &workload;
    std::span<const std::byte> got;
    const JudgeJob &job;
    const RunnerData &data;  // one of the job's
    std::string step;
};
// Keeps the largest errors in `errors`, and sends them.
End compare_output(const JudgedOutput &output, const SendLine &send, ErrorMeasures *errors);

// Sends what is known on the way; the answer is the end. Precondition: the job is one kernel's, no PackJob and no NetworkJob.
RunnerAnswer run_job(const RunnerJob &job, const SendLine &send);

}  // namespace kiln
