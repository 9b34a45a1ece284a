// What the measuring process does with a job, step by step: correctness before time, and again after it.
#pragma once

#include <functional>
#include <string>

#include "tuner/protocol/runner_protocol.h"

namespace kiln {

using SendLine = std::function<void(const std::string &)>;

// Sends what is known on the way; the answer is the end.
RunnerAnswer run_job(const RunnerJob &job, const SendLine &send);

}  // namespace kiln
