#include "tuner/measure/process_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <list>

#include "tuner/measure/memory_bound.h"
#include "tuner/measure/operand_files.h"
#include "tuner/measure/runner_order.h"
#include "tuner/process/address_space.h"
#include "tuner/process/child_process.h"
#include "tuner/protocol/runner_protocol.h"
#include "tuner/reference/operands.h"
#include "tuner/reference/reference.h"
#include "workload/signature.h"

namespace kiln {

namespace {

constexpr int64_t judge_limit_ns =
    int64_t(600) * 1'000'000'000;  // a hardware description runs a million cycles a second
constexpr int64_t longest_preparation_ns = int64_t(24) * 3600 * 1'000'000'000;

// Address space without what the kernel may use: the process itself with its libraries, a stack for each thread, twice
// the operands (a call's own and the files they come from) for each kernel, and the reference.
int64_t needed_space(const RunnerCall &call, const std::vector<RunnerKernel> &kernels, const OperandFiles &files) {
    constexpr int64_t process_bytes = 192 << 20, thread_bytes = 16 << 20;
    int64_t own_bytes = 0;
    for (const RunnerKernel &kernel : kernels) {
        own_bytes += files.call_bytes() + kernel.packed_bytes + kernel.prepared_bytes;
    }
    const int64_t reference_bytes = 2 * int64_t(sizeof(double)) * files.result_elements();
    return process_bytes + call.threads * thread_bytes + 2 * own_bytes + reference_bytes;
}

// The kernel's part is smaller where this process may not give as much. Errors (environment): it is too small.
Status set_memory(RunnerOrder *order, const std::vector<RunnerKernel> &kernels, const OperandFiles &files) {
    constexpr int64_t least_bytes = 64 << 20;
    RunnerCall &call = std::visit([](auto &job) -> RunnerCall & { return job.call; }, order->job);
    const int64_t needed = needed_space(call, kernels, files), most = most_address_space();
    if (most - needed < least_bytes) {
        return environment_error(fmt::format(
            "the limit of address space of {} MiB (ulimit -v) is too low for the measuring process: {} needs {} MiB",
            most >> 20, call.workload, (needed + least_bytes) >> 20));
    }
    call.memory_limit_bytes = std::min(call.memory_limit_bytes, most - needed);
#if !defined(__SANITIZE_ADDRESS__)  // the sanitizer reserves terabytes
    order->address_space = needed + call.memory_limit_bytes;
#endif
    return {};
}

// A judgement makes some sixteen calls. A kernel of a large workload may take seconds for each; one that is slower than this
// is no use to anybody.
int64_t calls_ns(const Workload &workload) {
    constexpr double calls = 16, flops_per_ns = 20, bytes_per_ns = 1;
    const Signature tensors = signature(workload);
    double bytes = double(tensors.result.bytes());
    for (const TensorForm &operand : tensors.operands) bytes += double(operand.bytes());
    return int64_t(calls * (double(flop_count(workload)) / flops_per_ns + bytes / bytes_per_ns));
}

RunnerKernel kernel_of(const Artifact &artifact) {
    return {artifact.shared_object_path, artifact.packed_bytes, artifact.prepared_bytes, artifact.workspace_bytes,
            artifact.text_bytes,         artifact.rodata_bytes, artifact.shared_code};
}

}  // namespace

struct ProcessRunner::State {
    struct Entry {
        std::string key;
        OperandFiles files;
    };

    explicit State(ProcessRunnerOptions runner_options)
        : options(std::move(runner_options)), traits{.machine = options.machine} {
        if (options.core) traits.metric = Metric::cycles, traits.is_noisy = false;
        traits.judges_finalists = !options.core_judge.empty();
    }

    ProcessRunnerOptions options;
    RunnerTraits traits;
    std::list<Entry> entries;  // the workload used last comes first
    int64_t next_prefix = 0;

    int64_t memory_bytes(const Workload &workload, const Target &target) const {
        const std::optional<Machine> machine = parse_machine_key(options.machine);
        return machine ? sentinel_bytes(workload, *machine, target.threads) : 0;
    }

    std::string new_prefix() { return fmt::format("{}/data{}", options.work_folder, next_prefix++); }

    // In a process of its own, since it may take long and much memory.
    Result<OperandFiles> new_data(const Workload &workload, const OutOfTime &out_of_time) {
        if (Status s = check_reference(workload); !s) {
            return s.error();
        }
        OperandFiles files = OperandFiles::for_judging(workload, new_prefix());
        ChildRequest child;
        child.arguments = {options.executable};
        child.input = to_json(PrepareJob{{key(workload), 1, 0, {}}, files.judging_data()});
        child.time_limit_ns = longest_preparation_ns;
        child.is_over = out_of_time;
        child.avoid_cpu = options.cpu;  // other processes may measure
        const auto result = run_child(child);
        if (!result) {
            return result.error();
        }
        const RunnerAnswer answer = parse_runner_answer(result->output);
        if (answer.status == TrialStatus::ok) {
            return files;
        }
        if (!answer.environment.empty()) {
            return environment_error(fmt::format("{}: {}", options.executable, answer.environment));
        }
        const auto failure = failure_of(*result, answer, options);
        if (!failure) {
            return failure.error();
        }
        return environment_error(
            fmt::format("the reference of {} cannot be computed, which takes some {} MiB of memory: {}", key(workload),
                        files.bytes() >> 20, failure->message));
    }

    // Made once for each workload. Those used last are kept, as many as fit; the newest always.
    Result<const OperandFiles *> data_of(const Workload &workload, const OutOfTime &out_of_time) {
        constexpr int64_t kept_bytes = 1 << 30;  // a network's layers take turns
        const std::string key = kiln::key(workload);
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry &e) { return e.key == key; });
        if (found != entries.end()) {
            entries.splice(entries.begin(), entries, found);
            return &entries.front().files;
        }
        auto files = new_data(workload, out_of_time);
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

    std::optional<CoreJudge> core_judge() {
        if (options.core_judge.empty()) return {};
        return CoreJudge{options.core_judge, new_prefix() + "-program", judge_limit_ns};
    }

    RunnerCall call_of(const Workload &workload, const Target &target) const {
        return {key(workload), target.threads, options.memory_limit_bytes, options.core};
    }
};

ProcessRunner::ProcessRunner(ProcessRunnerOptions options) : state_(new State(std::move(options))) {}

ProcessRunner::~ProcessRunner() = default;

const RunnerTraits &ProcessRunner::traits() const { return state_->traits; }

Result<RunResult> ProcessRunner::run(const RunRequest &request) {
    const auto files = state_->data_of(request.workload, request.out_of_time);
    if (!files) {
        return files.error();
    }
    JudgeJob job;
    job.call = state_->call_of(request.workload, request.target);
    job.kernel = kernel_of(request.artifact);
    job.error_budget = request.error_budget;
    if (request.measure) {
        job.sampling = {request.cache, state_->options.sampling, request.cutoffs_ns, request.patience_ns,
                        state_->memory_bytes(request.workload, request.target)};
    }
    job.data = (*files)->judging_data();
    ProcessRunnerOptions options = state_->options;
    if (!options.core) options.time_limit_ns += calls_ns(request.workload);
    RunnerOrder order{job, request.measure, request.out_of_time};
    if (Status s = set_memory(&order, {job.kernel}, **files); !s) {
        return s.error();
    }
    auto answered = ask(order, options);
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
    const auto files = state_->data_of(request.workload, request.out_of_time);
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
    job.memory_bytes = state_->memory_bytes(request.workload, request.target);
    ProcessRunnerOptions options = state_->options;
    job.judge = state_->core_judge();
    if (job.judge) options.time_limit_ns += static_cast<int64_t>(job.kernels.size()) * judge_limit_ns;
    RunnerOrder order{job, true, request.out_of_time};
    if (Status s = set_memory(&order, job.kernels, **files); !s) {
        return s.error();
    }
    auto answered = ask(order, options);
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
                         files.operands(), state_->new_prefix() + "-output", state_->core_judge()};
    ProcessRunnerOptions options = state_->options;
    if (job.judge) options.time_limit_ns += judge_limit_ns;
    if (!options.core) options.time_limit_ns += calls_ns(request.workload);
    RunnerOrder order{job, false};
    if (Status s = set_memory(&order, {job.kernel}, files); !s) {
        return s.error();
    }
    const auto answered = ask(order, options);
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
