#include "tuner/runner/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "tuner/process/mapped_file.h"
#include "tuner/reference/comparison.h"
#include "tuner/reference/judging_data.h"
#include "tuner/runner/cache.h"
#include "tuner/runner/call.h"
#include "tuner/runner/heat.h"
#include "tuner/runner/kernel.h"
#include "tuner/runner/sampling.h"
#include "tuner/runner/sentinel.h"

namespace kiln {

namespace {

RunnerAnswer kernel_error(const char *function, int code) {
    return failed(TrialStatus::crash, fmt::format("{} returned the error code {}", function, code));
}

// The calls of one kernel have this in common.
struct KernelCalls {
    const RunnerCall &call;
    const RunnerKernel &facts;
    const Workload &workload;
    const LoadedKernel &kernel;
    const SendLine &send;

    std::string threads() const { return call.threads == 1 ? "1 thread" : fmt::format("{} threads", call.threads); }

    // Nearly all the memory there is.
    Result<std::unique_ptr<CallContext>> roomy_context() const {
        const size_t limit = size_t(call.memory_limit_bytes);
        return CallContext::create(call.threads, {limit / 2, limit / 4 / size_t(call.threads)});
    }
};

struct Start {
    std::string step;
    const OperandPaths &operands;
    Call::Place place;
    CallContext &context;
    std::optional<Role> on_output = {};  // an operand that the output's memory has
};

// Places a data set and makes one call.
End start(const KernelCalls &calls, const Start &start, std::unique_ptr<Call> *call) {
    calls.send(step_line(start.step));
    auto created = Call::create(calls.facts, calls.workload, start.operands, start.place);
    if (!created) {
        return environment_failed(created.error());
    }
    *call = std::move(*created);
    if (start.on_output) (*call)->lay_on_output(*start.on_output);
    if (const int code = (*call)->prepare(calls.kernel, start.context.context())) {
        return kernel_error("the kernel's pack or prepare function", code);
    }
    if (const int code = (*call)->compute(calls.kernel, start.context.context())) {
        return kernel_error("the kernel", code);
    }
    return {};
}

class Judgement {
public:
    Judgement(const JudgeJob &job, const KernelCalls &calls) : job_(job), calls_(calls) {}

    RunnerAnswer judge();

private:
    struct Check {
        std::string step;
        const RunnerData &data;
        Call::Place place;
        CallContext &context;
        std::optional<Role> on_output = {};
    };

    End find_workspace();
    End check(const Check &check);
    End check_in_place();
    End measure(const SamplingOrder &order);

    const JudgeJob &job_;
    const KernelCalls &calls_;
    std::unique_ptr<CallContext> parallel_, serial_;  // with exactly the workspace that the first call used
    RunnerAnswer answer_;                             // collects what a good kernel reports
};

// The first call gets nearly all the memory there is. The other calls get as much as the first one used.
End Judgement::find_workspace() {
    auto roomy = calls_.roomy_context();
    if (!roomy) {
        return environment_failed(roomy.error());
    }
    const std::string step = fmt::format("first check, {}, memory guarded after the end", calls_.threads());
    if (End end = check({step, job_.data.ordinary, Call::Place::end_at_guard, **roomy})) {
        return end;
    }
    const WorkspaceSize peak = (*roomy)->peak();
    answer_.workspace_bytes = int64_t(peak.caller);
    answer_.workspace_bytes_per_thread = int64_t(peak.per_thread);
    for (const auto &[threads, context] : {std::pair{job_.call.threads, &parallel_}, {1, &serial_}}) {
        auto exact = CallContext::create(threads, peak);
        if (!exact) {
            return environment_failed(exact.error());
        }
        *context = std::move(*exact);
    }
    return {};
}

End Judgement::check(const Check &check) {
    std::unique_ptr<Call> call;
    if (End end =
            start(calls_, {check.step, check.data.operands, check.place, check.context, check.on_output}, &call)) {
        return end;
    }
    return compare_output({calls_.workload, call->output(), job_, check.data, check.step}, calls_.send,
                          &answer_.errors);
}

// Networks have the result written over a tensor that is added to it, where nobody needs that tensor afterwards.
End Judgement::check_in_place() {
    for (const StepOperand &operand : step_operands()) {
        if (!is_like_result(operand.step) || !has_step(calls_.workload.epilogue, operand.step)) continue;
        const std::string step =
            fmt::format("check with the {} in the result's memory, {}", operand.name, calls_.threads());
        if (End end = check({step, job_.data.other, Call::Place::end_at_guard, *parallel_, operand.role})) return end;
    }
    return {};
}

End Judgement::measure(const SamplingOrder &order) {
    const std::string step = "timing, " + calls_.threads();
    const RunnerData &data = job_.data.ordinary;
    std::unique_ptr<Call> call;
    if (End end = start(calls_, {step, data.operands, Call::Place::scattered, *parallel_}, &call)) {
        return end;
    }
    KernelContext &context = parallel_->context();
    int code = 0;
    const auto timed_call = [&] {
        const int of_call = call->compute(calls_.kernel, context);
        if (code == 0) code = of_call;
    };
    SamplingRequest request{{timed_call, {}}, order.limits, order.cutoffs_ns, order.patience_ns};
    const MemorySentinel memory(call->activations(), size_t(order.memory_bytes));
    if (order.memory_bytes > 0) request.memory = [&] { return memory.measure(); };
    if (order.cache == CacheMode::cold) {
        request.timed.before_each = [&] { make_cold(call->weights(), call->activations()); };
    }
    const Sampling sampling = take_samples(request);
    answer_.samples = sampling.samples;
    answer_.sentinel_ns = sampling.sentinel_ns;
    answer_.conditions = sampling.conditions;
    if (code != 0) return kernel_error("the kernel, while it was timed,", code);
    if (sampling.is_unstable) {
        const Summary summary = summarize(sampling.samples);
        return failed(
            TrialStatus::unstable,
            fmt::format("the middle half of {} samples spreads over {:.0f} % of their median of {:.1f} us, the "
                        "last of {} times; is the machine busy?",
                        sampling.samples.size(), 100 * summary.spread, summary.median / 1e3, sampling.attempts));
    }
    // The samples' own last call as well, on memory that no call was checked on.
    call->poison_output();
    call->compute(calls_.kernel, context);
    return compare_output({calls_.workload, call->output(), job_, data, step}, calls_.send, &answer_.errors);
}

RunnerAnswer Judgement::judge() {
    if (End end = find_workspace()) {
        return *end;
    }
    const std::string threads = calls_.threads();
    const JudgingData &data = job_.data;
    if (End end = check({"second check, " + threads + ", memory guarded before the start", data.ordinary,
                         Call::Place::start_at_guard, *parallel_})) {
        return *end;
    }
    if (job_.call.threads > 1) {
        if (End end = check({"check with 1 thread", data.ordinary, Call::Place::start_at_guard, *serial_})) {
            return *end;
        }
    }
    if (job_.sampling) {
        if (End end = measure(*job_.sampling)) {
            return *end;
        }
    }
    if (End end = check({"check on other inputs, " + threads, data.other, Call::Place::end_at_guard, *parallel_})) {
        return *end;
    }
    if (End end = check_in_place()) {
        return *end;
    }
    if (End end =
            check({"check on data of wide range, " + threads, data.wide, Call::Place::start_at_guard, *parallel_})) {
        return *end;
    }
    answer_.status = TrialStatus::ok;
    return answer_;
}

RunnerAnswer execute(const ExecuteJob &job, const KernelCalls &calls) {
    auto context = calls.roomy_context();
    if (!context) {
        return environment_failed(context.error());
    }
    std::unique_ptr<Call> call;
    if (End end = start(calls, {"the call", job.operands, Call::Place::end_at_guard, **context}, &call)) {
        return *end;
    }
    std::ofstream file(job.output, std::ios::binary);
    file.write(reinterpret_cast<const char *>(call->output().data()), std::streamsize(call->output().size()));
    if (!file.flush()) {
        return environment_failed(environment_error(fmt::format("{}: cannot be written", job.output)));
    }
    RunnerAnswer answer;
    answer.status = TrialStatus::ok;
    return answer;
}

// Nothing, or what is wrong with the kernel.
End load(const RunnerKernel &facts, std::vector<LoadedKernel> *kernels) {
    auto kernel = LoadedKernel::load(facts.shared_object);
    if (!kernel) {
        return failed(TrialStatus::compile_error, kernel.error().message);
    }
    if ((kernel->pack() != nullptr) != (facts.packed_bytes > 0) ||
        (kernel->prepare() != nullptr) != (facts.prepared_bytes > 0)) {
        return failed(TrialStatus::compile_error,
                      "the kernel's functions and its sizes disagree: pack needs packed_bytes, prepare prepared_bytes");
    }
    kernels->push_back(std::move(*kernel));
    return {};
}

RunnerAnswer run(const HeatJob &job, const Workload &workload, const SendLine &send) {
    std::vector<LoadedKernel> kernels;
    for (const RunnerKernel &facts : job.kernels) {
        if (End end = load(facts, &kernels)) return *end;
    }
    return run_heat(job, workload, kernels, send);
}

RunnerAnswer run(const JudgeJob &job, const Workload &workload, const SendLine &send) {
    std::vector<LoadedKernel> kernels;
    if (End end = load(job.kernel, &kernels)) return *end;
    const KernelCalls calls{job.call, job.kernel, workload, kernels.front(), send};
    return Judgement(job, calls).judge();
}

RunnerAnswer run(const ExecuteJob &job, const Workload &workload, const SendLine &send) {
    std::vector<LoadedKernel> kernels;
    if (End end = load(job.kernel, &kernels)) return *end;
    return execute(job, {job.call, job.kernel, workload, kernels.front(), send});
}

RunnerAnswer run(const PrepareJob &job, const Workload &workload, const SendLine &) {
    const auto files = [](const RunnerData &data) {
        return JudgingFiles{data.operands, data.expected, data.magnitude};
    };
    if (Status s =
            write_judging_data(workload, {files(job.data.ordinary), files(job.data.other), files(job.data.wide)});
        !s) {
        return environment_failed(s.error());
    }
    RunnerAnswer answer;
    answer.status = TrialStatus::ok;
    return answer;
}

}  // namespace

RunnerAnswer failed(TrialStatus status, std::string message) {
    RunnerAnswer answer;
    answer.status = status;
    answer.message = std::move(message);
    return answer;
}

RunnerAnswer environment_failed(const Error &error) {
    RunnerAnswer answer;
    answer.environment = error.message;
    return answer;
}

End compare_output(const JudgedOutput &output, const SendLine &send, ErrorMeasures *errors) {
    const auto expected = MappedFile::open(output.data.expected), magnitude = MappedFile::open(output.data.magnitude);
    if (!expected || !magnitude) return environment_failed(expected ? magnitude.error() : expected.error());
    const bool is_wide = &output.data == &output.job.data.wide;
    const double budget = (is_wide ? wide_error_factor : 1) * output.job.error_budget;
    const Comparison comparison =
        compare({output.workload, output.got, expected->doubles(), magnitude->doubles(), budget, is_wide});
    if (is_wide) {
        errors->wide = std::max(errors->wide.value_or(0), comparison.max_error);
    } else {
        errors->max = std::max(errors->max.value_or(0), comparison.max_error);
        errors->rms = std::max(errors->rms.value_or(0), comparison.rms_error);
    }
    send(errors_line(*errors));
    if (comparison.problem.empty()) return {};
    return failed(TrialStatus::wrong_result, fmt::format("{} ({})", comparison.problem, output.step));
}

RunnerAnswer run_job(const RunnerJob &job, const SendLine &send) {
    const auto workload = parse_workload_key(call_of(job).workload);
    if (!workload) {
        return environment_failed(workload.error());
    }
    send(step_line("loading"));
    if (const auto *judge = std::get_if<JudgeJob>(&job)) return run(*judge, *workload, send);
    if (const auto *heat = std::get_if<HeatJob>(&job)) return run(*heat, *workload, send);
    if (const auto *execute = std::get_if<ExecuteJob>(&job)) return run(*execute, *workload, send);
    return run(std::get<PrepareJob>(job), *workload, send);
}

}  // namespace kiln
