// Runs of a network through the interface of its package, as a program does them.
#pragma once

#include "tuner/protocol/runner_protocol.h"
#include "tuner/runner/steps.h"

namespace kiln {

RunnerAnswer run_network_job(const NetworkJob &job, const SendLine &send);

}  // namespace kiln
