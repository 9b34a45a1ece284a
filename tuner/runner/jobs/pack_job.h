// Weights packed ahead of time by the function of the kernel that will read them.
#pragma once

#include "tuner/protocol/runner_protocol.h"
#include "tuner/runner/steps.h"

namespace kiln {

RunnerAnswer run_pack_job(const PackJob &job, const SendLine &send);

}  // namespace kiln
