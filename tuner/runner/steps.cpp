#include "tuner/runner/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

#include "tuner/process/mapped_file.h"
#include "tuner/reference/comparison.h"
#include "tuner/runner/cache.h"
#include "tuner/runner/call.h"
#include "tuner/runner/heat.h"
#include "tuner/runner/kernel.h"
#include "tuner/runner/sampling.h"

namespace kiln {

namespace {

using End = std::optional<RunnerAnswer>;  // nothing: go on

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

RunnerAnswer kernel_error(const char *function, int code) {
    return failed(TrialStatus::crash, fmt::format("{} returned the error code {}", function, code));
}

std::string threads_text(int threads) { return threads == 1 ? "1 thread" : fmt::format("{} threads", threads); }

class Steps {
public:
    Steps(const RunnerJob &job, const Workload &workload, const LoadedKernel &kernel, const SendLine &send)
        : job_(job), workload_(workload), kernel_(kernel), send_(send) {}

    RunnerAnswer judge();
    RunnerAnswer execute();

private:
    enum DataSet : size_t { ordinary, other, wide };
    struct Check {
        std::string step;
        DataSet data;
        Call::Place place;
        CallContext *context;
    };

    End make_contexts();
    End find_workspace();
    End check(const Check &check);
    End compare_output(const Call &call, DataSet data, const std::string &step);
    End measure();
    End start(const std::string &step, DataSet data, Call::Place place, CallContext &context,
              std::unique_ptr<Call> *call);

    const RunnerJob &job_;
    const Workload &workload_;
    const LoadedKernel &kernel_;
    const SendLine &send_;
    std::unique_ptr<CallContext> parallel_, serial_;  // with exactly the workspace that the first call used
    RunnerAnswer answer_;                             // collects what a good kernel reports
};

// Places a data set and makes one call.
End Steps::start(const std::string &step, DataSet data, Call::Place place, CallContext &context,
                 std::unique_ptr<Call> *call) {
    send_(step_line(step));
    auto created = Call::create(job_.kernels.front(), workload_, job_.data.at(data), place);
    if (!created) {
        return environment_failed(created.error());
    }
    *call = std::move(*created);
    if (const int code = (*call)->prepare(kernel_, context.context())) {
        return kernel_error("the kernel's pack or prepare function", code);
    }
    if (const int code = (*call)->compute(kernel_, context.context())) {
        return kernel_error("the kernel", code);
    }
    return {};
}

// The first call has nearly all the memory there is; the others get what it used.
End Steps::find_workspace() {
    const size_t limit = size_t(job_.memory_limit_bytes);
    auto roomy = CallContext::create(job_.threads, {limit / 2, limit / 4 / size_t(job_.threads)});
    if (!roomy) {
        return environment_failed(roomy.error());
    }
    const std::string step = fmt::format("first check, {}, memory guarded after the end", threads_text(job_.threads));
    if (End end = check({step, ordinary, Call::Place::end_at_guard, roomy->get()})) {
        return end;
    }
    const WorkspaceSize peak = (*roomy)->peak();
    answer_.workspace_bytes = int64_t(peak.caller);
    answer_.workspace_bytes_per_thread = int64_t(peak.per_thread);
    for (const auto &[threads, context] : {std::pair{job_.threads, &parallel_}, {1, &serial_}}) {
        auto exact = CallContext::create(threads, peak);
        if (!exact) {
            return environment_failed(exact.error());
        }
        *context = std::move(*exact);
    }
    return {};
}

End Steps::compare_output(const Call &call, DataSet data, const std::string &step) {
    auto expected = MappedFile::open(job_.data[data].expected), magnitude = MappedFile::open(job_.data[data].magnitude);
    if (!expected || !magnitude) {
        return environment_failed(expected ? magnitude.error() : expected.error());
    }
    const Comparison comparison = compare({workload_, call.output(), expected->doubles(), magnitude->doubles(),
                                           (data == wide ? wide_error_factor : 1) * job_.error_budget, data == wide});
    ErrorMeasures &errors = answer_.errors;
    if (data == wide) {
        errors.wide = std::max(errors.wide.value_or(0), comparison.max_error);
    } else {
        errors.max = std::max(errors.max.value_or(0), comparison.max_error);
        errors.rms = std::max(errors.rms.value_or(0), comparison.rms_error);
    }
    send_(errors_line(errors));
    if (!comparison.problem.empty()) {
        return failed(TrialStatus::wrong_result, fmt::format("{} ({})", comparison.problem, step));
    }
    return {};
}

End Steps::check(const Check &check) {
    std::unique_ptr<Call> call;
    if (End end = start(check.step, check.data, check.place, *check.context, &call)) {
        return end;
    }
    return compare_output(*call, check.data, check.step);
}

End Steps::measure() {
    const std::string step = "timing, " + threads_text(job_.threads);
    std::unique_ptr<Call> call;
    if (End end = start(step, ordinary, Call::Place::scattered, *parallel_, &call)) {
        return end;
    }
    KernelContext &context = parallel_->context();
    SamplingRequest request{{[&] { call->compute(kernel_, context); }, {}}, job_.sampling, job_.cutoffs_ns};
    if (job_.cache == CacheMode::cold) {
        request.timed.before_each = [&] { make_cold(call->weights(), call->activations()); };
    }
    const Sampling sampling = take_samples(request);
    answer_.samples = sampling.samples;
    answer_.sentinel_ns = sampling.sentinel_ns;
    answer_.conditions = sampling.conditions;
    if (sampling.is_unstable) {
        const Summary summary = summarize(sampling.samples);
        return failed(
            TrialStatus::unstable,
            fmt::format("the middle half of {} samples spreads over {:.0f} % of their median of {:.1f} us, the "
                        "last of {} times; is the machine busy?",
                        sampling.samples.size(), 100 * summary.spread, summary.median / 1e3, unstable_attempts));
    }
    // The samples' own last call as well, on memory that no call was checked on.
    call->poison_output();
    call->compute(kernel_, context);
    return compare_output(*call, ordinary, step);
}

RunnerAnswer Steps::judge() {
    if (End end = find_workspace()) {
        return *end;
    }
    const std::string threads = threads_text(job_.threads);
    if (End end = check({"second check, " + threads + ", memory guarded before the start", ordinary,
                         Call::Place::start_at_guard, parallel_.get()})) {
        return *end;
    }
    if (job_.threads > 1) {
        if (End end = check({"check with 1 thread", ordinary, Call::Place::start_at_guard, serial_.get()})) {
            return *end;
        }
    }
    if (job_.measure) {
        if (End end = measure()) {
            return *end;
        }
    }
    if (End end = check({"check on other inputs, " + threads, other, Call::Place::end_at_guard, parallel_.get()})) {
        return *end;
    }
    if (End end =
            check({"check on data of wide range, " + threads, wide, Call::Place::start_at_guard, parallel_.get()})) {
        return *end;
    }
    answer_.status = TrialStatus::ok;
    return answer_;
}

RunnerAnswer Steps::execute() {
    const size_t limit = size_t(job_.memory_limit_bytes);
    auto context = CallContext::create(job_.threads, {limit / 2, limit / 4 / size_t(job_.threads)});
    if (!context) {
        return environment_failed(context.error());
    }
    std::unique_ptr<Call> call;
    if (End end = start("the call", ordinary, Call::Place::end_at_guard, **context, &call)) {
        return *end;
    }
    std::ofstream file(job_.output, std::ios::binary);
    file.write(reinterpret_cast<const char *>(call->output().data()), std::streamsize(call->output().size()));
    if (!file.flush()) {
        return environment_failed(environment_error(fmt::format("{}: cannot be written", job_.output)));
    }
    answer_.status = TrialStatus::ok;
    return answer_;
}

}  // namespace

RunnerAnswer run_job(const RunnerJob &job, const SendLine &send) {
    const auto workload = parse_workload_key(job.workload);
    if (!workload) {
        return environment_failed(workload.error());
    }
    send(step_line("loading"));
    std::vector<LoadedKernel> kernels;
    for (const RunnerKernel &k : job.kernels) {
        auto kernel = LoadedKernel::load(k.shared_object);
        if (!kernel) {
            return failed(TrialStatus::compile_error, kernel.error().message);
        }
        if ((kernel->pack() != nullptr) != (k.packed_bytes > 0) ||
            (kernel->prepare() != nullptr) != (k.prepared_bytes > 0)) {
            return failed(
                TrialStatus::compile_error,
                "the kernel's functions and its sizes disagree: pack needs packed_bytes, prepare prepared_bytes");
        }
        kernels.push_back(std::move(*kernel));
    }
    if (job.heat.rounds > 0) {
        return run_heat(job, *workload, kernels, send);
    }
    const LoadedKernel &kernel = kernels.front();
    Steps steps(job, *workload, kernel, send);
    return job.output.empty() ? steps.judge() : steps.execute();
}

}  // namespace kiln
