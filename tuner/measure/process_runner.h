// The real runner: a measuring process (kiln-runner) for each kernel, with time and memory limits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "simulate/core_description.h"
#include "tuner/measure/runner.h"
#include "tuner/process/lock_holder.h"
#include "tuner/reference/tensor.h"

namespace kiln {

struct ProcessRunnerOptions {
    std::string executable;                         // kiln-runner
    std::string work_folder;                        // for operands and references, kept between runs of one workload
    int64_t time_limit_ns = 20'000'000'000;         // and what the calls of a large workload take at a slow rate
    int64_t memory_limit_bytes = int64_t(4) << 30;  // beyond the operands
    std::optional<int> cpu;                         // pin one-thread kernels to this one
    SamplingLimits sampling;
    std::string machine;                  // RunnerTraits::machine
    std::optional<CoreDescription> core;  // that kernels are simulated on
    std::string core_judge;  // a program that runs what heat() and execute() run, too, see CoreJudge; empty: none
    std::string lock;        // path of what is locked while measuring, see measuring_lock.h; empty: nothing
    std::function<void(const std::optional<LockHolder> &)> on_wait;  // for that lock
};

class ProcessRunner : public Runner {
public:
    explicit ProcessRunner(ProcessRunnerOptions options);
    ~ProcessRunner() override;

    const RunnerTraits &traits() const override;
    Result<RunResult> run(const RunRequest &request) override;
    Result<Attempt<HeatReport>> heat(const HeatRequest &request) override;

    // One call of a kernel on given operands, with guard pages and limits as in run(): its output, unjudged. One that
    // computes
    // something else in `core_judge` fails.
    Result<Attempt<Tensor>> execute(const ExecuteRequest &request, const Operands &operands);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kiln
