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

int64_t bytes_of(const Workload &workload) {
    int64_t bytes = elements(stored_result_shape(workload)) * size_of(workload.output_dtype);
    for (const NamedOperand &operand : operand_list(workload)) {
        bytes += operand.tensor.elements() * size_of(operand.tensor.dtype);
    }
    return bytes;
}

// Address space: the process itself with its libraries, a stack for each thread, twice the operands (a call's own and
// the files they come from) for each kernel, the reference, and then what the kernel may use.
int64_t address_space(const Workload &workload, const RunnerJob &job) {
#if defined(__SANITIZE_ADDRESS__)
    return 0;  // the sanitizer reserves terabytes
#endif
    constexpr int64_t process_bytes = 192 << 20, thread_bytes = 16 << 20;
    int64_t own_bytes = 0;
    for (const RunnerKernel &kernel : job.kernels) {
        own_bytes += bytes_of(workload) + kernel.packed_bytes + kernel.prepared_bytes;
    }
    const int64_t reference_bytes = 2 * int64_t(sizeof(double)) * elements(stored_result_shape(workload));
    return process_bytes + job.threads * thread_bytes + 2 * own_bytes + reference_bytes + job.memory_limit_bytes;
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

struct Answered {
    std::variant<RunnerAnswer, Failure> outcome;
    ErrorMeasures errors;
    int64_t wall_ns = 0;
};

}  // namespace

struct ProcessRunner::State {
    struct Entry {
        std::string key;
        OperandFiles files;
    };

    ProcessRunnerOptions options;
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

    RunnerJob job_of(const RunRequest &request) const {
        RunnerJob job;
        job.workload = key(request.workload);
        job.kernels = {kernel_of(request.artifact)};
        job.threads = request.target.threads;
        job.error_budget = request.error_budget;
        job.cache = request.cache;
        job.measure = request.measure;
        job.sampling = options.sampling;
        job.cutoffs_ns = request.cutoffs_ns;
        job.memory_limit_bytes = options.memory_limit_bytes;
        return job;
    }

    Result<Answered> ask(const Workload &workload, const RunnerJob &job) {
        std::optional<MeasuringLock> lock;
        if (job.measure && job.output.empty() && !options.lock_file.empty()) {
            auto acquired = MeasuringLock::acquire(options.lock_file, options.on_wait);
            if (!acquired) {
                return acquired.error();
            }
            lock = std::move(*acquired);
        }
        ChildRequest child;
        child.arguments = {options.executable};
        child.input = to_json(job);
        child.time_limit_ns = options.time_limit_ns;
        child.memory_limit_bytes = address_space(workload, job);
        if (job.threads == 1) {
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
        Answered answered{answer, answer.errors, result->wall_ns};
        if (answer.status == TrialStatus::ok) {
            return answered;
        }
        Failure failure;
        if (answer.status) {
            failure.status = *answer.status;
            failure.message = answer.message;
            // A wrong result says itself where it was found.
            if (failure.status == TrialStatus::crash || failure.status == TrialStatus::out_of_memory) {
                failure.message += fmt::format(" (in: {})", answer.step);
            }
        } else if (answer.step.empty() && result->end == ChildResult::End::exited) {
            // Not even begun: no kernel was loaded that could have done this.
            return environment_error(fmt::format("{}: ended with {} before it did anything: {}", options.executable,
                                                 describe(*result), last_part(result->error_output, 400)));
        } else {
            failure = failure_of(*result, answer, options.time_limit_ns);
        }
        failure.stderr_text = last_part(result->error_output, 16 << 10);
        answered.outcome = std::move(failure);
        return answered;
    }
};

ProcessRunner::ProcessRunner(ProcessRunnerOptions options) : state_(new State{std::move(options), {}}) {}

ProcessRunner::~ProcessRunner() = default;

Result<RunResult> ProcessRunner::run(const RunRequest &request) {
    const auto files = state_->data_of(request.workload);
    if (!files) {
        return files.error();
    }
    RunnerJob job = state_->job_of(request);
    job.data = (*files)->data();
    auto answered = state_->ask(request.workload, job);
    if (!answered) {
        return answered.error();
    }
    RunResult result;
    result.errors = answered->errors;
    result.wall_ns = answered->wall_ns;
    if (auto *failure = std::get_if<Failure>(&answered->outcome)) {
        result.outcome = std::move(*failure);
    } else {
        RunnerAnswer &answer = std::get<RunnerAnswer>(answered->outcome);
        RunReport report{answer.errors, std::move(answer.samples), std::move(answer.conditions)};
        if (answer.sentinel_ns.size() == 2) {
            report.sentinel = {answer.sentinel_ns[0], answer.sentinel_ns[1]};
        }
        report.workspace_bytes = answer.workspace_bytes;
        report.workspace_bytes_per_thread = answer.workspace_bytes_per_thread;
        result.outcome = std::move(report);
    }
    return result;
}

Result<std::variant<HeatReport, Failure>> ProcessRunner::heat(const HeatRequest &request) {
    const auto files = state_->data_of(request.workload);
    if (!files) {
        return files.error();
    }
    RunnerJob job;
    job.workload = key(request.workload);
    for (const Artifact &artifact : request.artifacts) {
        job.kernels.push_back(kernel_of(artifact));
    }
    job.threads = request.target.threads;
    job.cache = request.cache;
    job.memory_limit_bytes = state_->options.memory_limit_bytes;
    job.heat = {request.rounds, request.seed, request.workspace_bytes, request.workspace_bytes_per_thread};
    job.data = (*files)->data();
    auto answered = state_->ask(request.workload, job);
    if (!answered) {
        return answered.error();
    }
    if (auto *failure = std::get_if<Failure>(&answered->outcome)) {
        return std::variant<HeatReport, Failure>(std::move(*failure));
    }
    RunnerAnswer &answer = std::get<RunnerAnswer>(answered->outcome);
    if (answer.heat.size() != request.artifacts.size()) {
        return environment_error(fmt::format("{}: answered {} kernels' times of {}", state_->options.executable,
                                             answer.heat.size(), request.artifacts.size()));
    }
    return std::variant<HeatReport, Failure>(HeatReport{std::move(answer.heat), std::move(answer.conditions)});
}

Result<std::variant<Tensor, Failure>> ProcessRunner::execute(const RunRequest &request, const Operands &operands) {
    OperandFiles files(state_->new_prefix());
    if (Status status = files.add(request.workload, operands); !status) {
        return status.error();
    }
    RunnerJob job = state_->job_of(request);
    job.data = files.data();
    job.output = state_->new_prefix() + "-output";
    auto answered = state_->ask(request.workload, job);
    if (!answered) {
        return answered.error();
    }
    if (auto *failure = std::get_if<Failure>(&answered->outcome)) {
        return std::variant<Tensor, Failure>(std::move(*failure));
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
    return std::variant<Tensor, Failure>(std::move(result));
}

}  // namespace kiln
