#include "tuner/measure/network_runner.h"

#include "tuner/measure/runner_order.h"

namespace kiln {

Result<Attempt<NetworkRunReport>> ProcessNetworkRunner::run(const NetworkRunRequest &request) {
    NetworkJob job{.call = {"", request.threads, 0},
                   .library = request.files.library,
                   .weights = request.files.weights,
                   .inputs = request.inputs,
                   .outputs = request.outputs,
                   .repeats = request.repeats,
                   .compare_threads = request.compare_threads,
                   .sampling = {},
                   .step_calls = request.step_calls};
    if (request.sampling) job.sampling = {request.cache, *request.sampling, {}};
    const bool is_timed = request.sampling || request.step_calls > 0;
    auto answered = ask({job, is_timed, request.out_of_time}, options_);
    if (!answered) return answered.error();
    if (!answered->ok()) return answered->failed_as<NetworkRunReport>();
    RunnerAnswer &answer = answered->value();
    NetworkRunReport report{
        std::move(answer.samples), std::move(answer.conditions), {}, answer.workspace_bytes, std::move(answer.steps)};
    if (answer.sentinel_ns.size() == 2) report.sentinel = {answer.sentinel_ns[0], answer.sentinel_ns[1]};
    return Attempt<NetworkRunReport>{std::move(report), answered->wall_ns};
}

}  // namespace kiln
