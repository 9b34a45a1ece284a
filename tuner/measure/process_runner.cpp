#include "tuner/measure/process_runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>

#include "tuner/measure/operand_files.h"
#include "tuner/process/child_process.h"
#include "tuner/process/measuring_lock.h"
#include "tuner/protocol/runner_protocol.h"
#include "tuner/reference/operands.h"

namespace kiln {

namespace {

// Address space: the process itself with its libraries, a stack for each thread, twice the operands (a call's own and
// the files they come from) for each kernel, the reference, and then what the kernel may use.
int64_t address_space(const RunnerCall &call, const std::vector<RunnerKernel> &kernels, const OperandFiles &files) {
#if defined(__SANITIZE_ADDRESS__)
    return 0;  // the sanitizer reserves terabytes
#endif
    constexpr int64_t process_bytes = 192 << 20, thread_bytes = 16 << 20;
    int64_t own_bytes = 0;
    for (const RunnerKernel &kernel : kernels) {
        own_bytes += files.call_bytes() + kernel.packed_bytes + kernel.prepared_bytes;
    }
    const int64_t reference_bytes = 2 * int64_t(sizeof(double)) * files.result_elements();
    return process_bytes + call.threads * thread_bytes + 2 * own_bytes + reference_bytes + call.memory_limit_bytes;
}

RunnerKernel kernel_of(const Artifact &artifact) {
    return {artifact.shared_object_path, artifact.packed_bytes, artifact.prepared_bytes};
}

std::string last_part(const std::string &text, size_t limit) {
    return text.size() <= limit ? text : text.substr(text.size() - limit);
}

// What became of a process that did not answer to the end.
Failure failure_of(const ChildResult &child, const RunnerAnswer &answer, int64_t time_limit_ns) {
    Failure failure;
    const std::string where = answer.step.empty() ? "" : fmt::format(" (in: {})", answer.step);
    if (child.end == ChildResult::End::timed_out) {
        failure.status = TrialStatus::timeout;
        failure.message = fmt::format("the kernel did not end within {:.1f} s{}", double(time_limit_ns) * 1e-9, where);
    } else if (child.end == ChildResult::End::signalled && child.code == SIGKILL) {
        failure.status = TrialStatus::out_of_memory;
        failure.message =
            fmt::format("the measuring process was killed, probably because the machine ran out of memory{}", where);
    } else {
        failure.message = fmt::format("the measuring process ended with {}{}", describe(child), where);
    }
    return failure;
}

// A job, and what the measuring process that does it is given.
struct Order {
    RunnerJob job;
    bool measures = false;
    int64_t address_space = 0;
};

// What an answer that is no success means. Errors: no kernel was loaded that could have done this.
Result<Failure> failure_of(const ChildResult &child, const RunnerAnswer &answer, const ProcessRunnerOptions &options) {
    Failure failure;
    if (answer.status) {
        failure.status = *answer.status;
        failure.message = answer.message;
        // A wrong result says itself where it was found.
        if (failure.status == TrialStatus::crash || failure.status == TrialStatus::out_of_memory) {
            failure.message += fmt::format(" (in: {})", answer.step);
        }
    } else if (answer.step.empty() && child.end == ChildResult::End::exited) {
        return environment_error(fmt::format("{}: ended with {} before it did anything: {}", options.executable,
                                             describe(child), last_part(child.error_output, 400)));
    } else {
        failure = failure_of(child, answer, options.time_limit_ns);
    }
    failure.stderr_text = last_part(child.error_output, 16 << 10);
    failure.errors = answer.errors;
    return failure;
}

}  // namespace

struct ProcessRunner::State {
    struct Entry {
        std::string key;
        OperandFiles files;
    };

    explicit State(ProcessRunnerOptions runner_options)
        : options(std::move(runner_options)), traits{.machine = options.machine} {}

    ProcessRunnerOptions options;
    RunnerTraits traits;
    std::list<Entry> entries;  // the workload used last comes first
    int64_t next_prefix = 0;

    std::string new_prefix() { return fmt::format("{}/data{}", options.work_folder, next_prefix++); }

    // Made once for each workload. Those used last are kept, as many as fit; the newest always.
    Result<const OperandFiles *> data_of(const Workload &workload) {
        constexpr int64_t kept_bytes = 1 << 30;  // a network's layers take turns
        const std::string key = kiln::key(workload);
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &e) { return e.key == key; });
        if (found != entries.end()) {
            entries.splice(entries.begin(), entries, found);
            return &entries.front().files;
        }
        auto files = OperandFiles::for_judging(workload, new_prefix());
        if (!files) {
            return files.error();
        }
        entries.push_front({key, std::move(*files)});
        int64_t total = 0;
        auto keep = entries.begin();
        for (; keep != entries.end(); ++keep) {
            total += keep->files.bytes();
            if (total > kept_bytes && keep != entries.begin()) {
                break;
            }
        }
        entries.erase(keep, entries.end());
        return &entries.front().files;
    }

    RunnerCall call_of(const Workload &workload, const Target &target) const {
        return {key(workload), target.threads, options.memory_limit_bytes};
    }

    Result<Attempt<RunnerAnswer>> ask(const Order &order) {
        std::optional<MeasuringLock> lock;
        if (order.measures && !options.lock_file.empty()) {
            auto acquired = MeasuringLock::acquire(options.lock_file, options.on_wait);
            if (!acquired) {
                return acquired.error();
            }
            lock = std::move(*acquired);
        }
        ChildRequest child;
        child.arguments = {options.executable};
        child.input = to_json(order.job);
        child.time_limit_ns = options.time_limit_ns;
        child.memory_limit_bytes = order.address_space;
        if (kiln::call_of(order.job).threads == 1) {
            child.cpu = options.cpu;
        }
        const auto result = run_child(child);
        if (!result) {
            return result.error();
        }
        RunnerAnswer answer = parse_runner_answer(result->output);
        if (!answer.environment.empty()) {
            return environment_error(fmt::format("{}: {}", options.executable, answer.environment));
        }
        if (answer.status == TrialStatus::ok) {
            return Attempt<RunnerAnswer>{std::move(answer), result->wall_ns};
        }
        auto failure = failure_of(*result, answer, options);
        if (!failure) {
            return failure.error();
        }
        return Attempt<RunnerAnswer>{std::move(*failure), result->wall_ns};
    }
};

ProcessRunner::ProcessRunner(ProcessRunnerOptions options) : state_(new State(std::move(options))) {}

ProcessRunner::~ProcessRunner() = default;

const RunnerTraits &ProcessRunner::traits() const { return state_->traits; }

Result<RunResult> ProcessRunner::run(const RunRequest &request) {
    const auto files = state_->data_of(request.workload);
    if (!files) {
        return files.error();
    }
    JudgeJob job;
    job.call = state_->call_of(request.workload, request.target);
    job.kernel = kernel_of(request.artifact);
    job.error_budget = request.error_budget;
    if (request.measure) job.sampling = {request.cache, state_->options.sampling, request.cutoffs_ns};
    job.data = (*files)->judging_data();
    auto answered = state_->ask({job, request.measure, address_space(job.call, {job.kernel}, **files)});
    if (!answered) {
        return answered.error();
    }
    if (!answered->ok()) {
        return answered->failed_as<RunReport>();
    }
    RunnerAnswer &answer = answered->value();
    RunReport report{answer.errors, std::move(answer.samples), std::move(answer.conditions)};
    if (answer.sentinel_ns.size() == 2) {
        report.sentinel = {answer.sentinel_ns[0], answer.sentinel_ns[1]};
    }
    report.workspace_bytes = answer.workspace_bytes;
    report.workspace_bytes_per_thread = answer.workspace_bytes_per_thread;
    return RunResult{std::move(report), answered->wall_ns};
}

Result<Attempt<HeatReport>> ProcessRunner::heat(const HeatRequest &request) {
    const auto files = state_->data_of(request.workload);
    if (!files) {
        return files.error();
    }
    HeatJob job;
    job.call = state_->call_of(request.workload, request.target);
    for (const Artifact &artifact : request.artifacts) {
        job.kernels.push_back(kernel_of(artifact));
    }
    job.cache = request.cache;
    job.rounds = request.rounds;
    job.seed = request.seed;
    job.workspace_bytes = request.workspace_bytes;
    job.workspace_bytes_per_thread = request.workspace_bytes_per_thread;
    job.operands = (*files)->operands();
    auto answered = state_->ask({job, true, address_space(job.call, job.kernels, **files)});
    if (!answered) {
        return answered.error();
    }
    if (!answered->ok()) {
        return answered->failed_as<HeatReport>();
    }
    RunnerAnswer &answer = answered->value();
    if (answer.heat.size() != request.artifacts.size()) {
        return environment_error(fmt::format("{}: answered {} kernels' times of {}", state_->options.executable,
                                             answer.heat.size(), request.artifacts.size()));
    }
    return Attempt<HeatReport>{HeatReport{std::move(answer.heat), std::move(answer.conditions)}, answered->wall_ns};
}

Result<Attempt<Tensor>> ProcessRunner::execute(const ExecuteRequest &request, const Operands &operands) {
    OperandFiles files(request.workload, state_->new_prefix());
    if (Status status = files.add(operands); !status) {
        return status.error();
    }
    const ExecuteJob job{state_->call_of(request.workload, request.target), kernel_of(request.artifact),
                         files.operands(), state_->new_prefix() + "-output"};
    const auto answered = state_->ask({job, false, address_space(job.call, {job.kernel}, files)});
    if (!answered) {
        return answered.error();
    }
    if (!answered->ok()) {
        return answered->failed_as<Tensor>();
    }
    Tensor result{request.workload.output_dtype, stored_result_shape(request.workload), {}};
    result.data.resize(size_t(result.elements()) * size_of(result.dtype));
    std::ifstream file(job.output, std::ios::binary);
    file.read(reinterpret_cast<char *>(result.data.data()), std::streamsize(result.data.size()));
    std::error_code ignored;
    std::filesystem::remove(job.output, ignored);
    if (size_t(file.gcount()) != result.data.size()) {
        return environment_error(
            fmt::format("{}: holds {} bytes of a result of {}", job.output, file.gcount(), result.data.size()));
    }
    return Attempt<Tensor>{std::move(result), answered->wall_ns};
}

}  // namespace kiln
