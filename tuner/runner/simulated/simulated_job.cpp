#include "tuner/runner/simulated/simulated_job.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "simulate/counts_json.h"
#include "tuner/runner/simulated/judged_heat.h"
#include "tuner/runner/simulated/simulated_kernel.h"

namespace kiln {
namespace {

End unless_returned(const SimulatedCall &call, const char *function) {
    if (call.problem.empty()) return {};
    return failed(TrialStatus::crash, fmt::format("{}: {}", function, call.problem));
}

std::string conditions_of(const CoreDescription &core, const RunnerKernel &kernel, const SimulatedCall &call) {
    nlohmann::ordered_json conditions = {{"core", key(core)}, {"clock_hz", core.clock_hz}};
    conditions.update(json_of(call.counts));
    conditions["text_bytes"] = kernel.text_bytes;
    conditions["rodata_bytes"] = kernel.rodata_bytes;
    conditions["stack_bytes"] = call.stack_bytes;
    conditions["workspace_bytes"] = kernel.workspace_bytes;
    if (!kernel.shared_code.empty()) conditions["shared_code"] = kernel.shared_code;
    return conditions.dump();
}

class SimulatedJob {
public:
    SimulatedJob(const RunnerCall &call, const RunnerKernel &kernel, const Workload &workload, const SendLine &send)
        : core_(*call.core), kernel_(kernel), workload_(workload), send_(send) {}

    RunnerAnswer judge(const JudgeJob &job);
    RunnerAnswer execute(const ExecuteJob &job);

private:
    End start(const std::string &step, const OperandPaths &operands);
    End compute();
    End check(const JudgeJob &job, const RunnerData &data, const std::string &step);

    const CoreDescription &core_;
    const RunnerKernel &kernel_;
    const Workload &workload_;
    const SendLine &send_;
    std::optional<SimulatedKernel> loaded_;
    SimulatedCall last_;
    RunnerAnswer answer_;
};

// Loads the program anew: nothing is left of a call on other data.
End SimulatedJob::start(const std::string &step, const OperandPaths &operands) {
    send_(step_line(step));
    auto loaded = SimulatedKernel::create({kernel_, workload_, core_, operands});
    if (!loaded) {
        return loaded.error().code == ErrorCode::environment
                   ? environment_failed(loaded.error())
                   : failed(TrialStatus::compile_error, loaded.error().message);
    }
    loaded_.emplace(std::move(*loaded));
    return unless_returned(loaded_->pack(), "the function that packs weights");
}

End SimulatedJob::compute() {
    loaded_->poison_output();
    last_ = loaded_->compute();
    return unless_returned(last_, "the kernel");
}

End SimulatedJob::check(const JudgeJob &job, const RunnerData &data, const std::string &step) {
    if (End end = start(step, data.operands)) return end;
    if (End end = compute()) return end;
    return compare_output({workload_, loaded_->output(), job, data, step}, send_, &answer_.errors);
}

RunnerAnswer SimulatedJob::judge(const JudgeJob &job) {
    if (End end = check(job, job.data.ordinary, "first check")) return *end;
    if (job.sampling) {
        // With warm caches: as the first call left them.
        if (job.sampling->cache == CacheMode::cold) loaded_->cold_caches();
        if (End end = compute()) return *end;
        const JudgedOutput output{workload_, loaded_->output(), job, job.data.ordinary, "counting cycles"};
        if (End end = compare_output(output, send_, &answer_.errors)) return *end;
        answer_.samples = {static_cast<double>(last_.counts.cycles)};
        answer_.conditions = conditions_of(core_, kernel_, last_);
    }
    if (End end = check(job, job.data.other, "check on other inputs")) return *end;
    if (End end = check(job, job.data.wide, "check on data of wide range")) return *end;
    answer_.workspace_bytes = kernel_.workspace_bytes;
    answer_.status = TrialStatus::ok;
    return answer_;
}

RunnerAnswer SimulatedJob::execute(const ExecuteJob &job) {
    if (End end = start("the call", job.operands)) return *end;
    if (End end = compute()) return *end;
    const std::span<const std::byte> output = loaded_->output();
    std::ofstream file(job.output, std::ios::binary);
    file.write(reinterpret_cast<const char *>(output.data()), static_cast<std::streamsize>(output.size()));
    if (!file.flush()) return environment_failed(environment_error(job.output + ": cannot be written"));
    if (job.judge) {
        if (End end = run_judged_call(job, workload_, send_)) return *end;
    }
    return failed(TrialStatus::ok, "");
}

}  // namespace

RunnerAnswer run_simulated_job(const RunnerJob &job, const SendLine &send) {
    const auto workload = parse_workload_key(call_of(job).workload);
    if (!workload) return environment_failed(workload.error());
    if (const auto *judge = std::get_if<JudgeJob>(&job)) {
        return SimulatedJob(judge->call, judge->kernel, *workload, send).judge(*judge);
    }
    if (const auto *execute = std::get_if<ExecuteJob>(&job)) {
        return SimulatedJob(execute->call, execute->kernel, *workload, send).execute(*execute);
    }
    if (const auto *heat = std::get_if<HeatJob>(&job); heat && heat->judge)
        return run_judged_heat(*heat, *workload, send);
    return environment_failed(
        environment_error("a simulated core judges kernels and runs them, and does nothing else"));
}

}  // namespace kiln
