// Judges each object once, for jobs in which many networks share kernels. Whatever is measured is measured anew.
#pragma once

#include <map>
#include <string>

#include "tuner/measure/runner.h"

namespace kiln {

class RememberedRuns : public Runner {
public:
    // The runner outlives this object.
    explicit RememberedRuns(Runner &runner) : runner_(runner) {}

    const RunnerTraits &traits() const override { return runner_.traits(); }
    Result<RunResult> run(const RunRequest &request) override;
    Result<Attempt<HeatReport>> heat(const HeatRequest &request) override { return runner_.heat(request); }

private:
    Runner &runner_;
    std::map<std::string, RunResult> judged_;  // by all that a verdict depends on
};

}  // namespace kiln
