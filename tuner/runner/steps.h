// What the measuring process does with a job, step by step: correctness before time, and again after it.
#pragma once

#include <functional>
#include <string>

#include "tuner/protocol/runner_protocol.h"

namespace kiln {

using SendLine = std::function<void(const std::string &)>;

// Ends of a job: what was to be done failed, or could not be tried.
RunnerAnswer failed(TrialStatus status, std::string message);
RunnerAnswer environment_failed(const Error &error);

// Sends what is known on the way; the answer is the end. Precondition: the job is one kernel's, no PackJob and no NetworkJob.
RunnerAnswer run_job(const RunnerJob &job, const SendLine &send);

}  // namespace kiln
