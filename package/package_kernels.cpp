#include "package/package_kernels.h"

#include <fmt/format.h>

#include "package/kernel_descriptor.h"
#include "tuner/job/candidate_choice.h"

namespace kiln {
namespace {

// A kernel, or the reason why there is none.
using Attempt = std::variant<PackagedKernel, std::string>;

class Collector {
public:
    Collector(const NamedWorkload &workload, const Target &target, const CollectEnvironment &environment)
        : workload_(workload),
          environment_(environment),
          context_{.target = target,
                   .machine = environment.machine,
                   .store = environment.store,
                   .toolchain = environment.builder.toolchain(),
                   .algorithms = environment.algorithms,
                   .error_budget = environment.error_budget} {
        report_.workload = workload;
        report_.target = target;
    }

    // The kernel, if there is one. The report says how it came about.
    Result<std::optional<PackagedKernel>> collect();
    const KernelReport &report() const { return report_; }

private:
    Result<Attempt> attempt(const CandidateChoice &choice);
    Result<std::string> judge(const CandidateChoice &choice, PackagedKernel *kernel);
    Status find_race(PackagedKernel *kernel) const;

    const NamedWorkload &workload_;
    const CollectEnvironment &environment_;
    const ChoiceContext context_;
    KernelReport report_;
};

Result<std::optional<PackagedKernel>> Collector::collect() {
    report_.source = KernelSource::missing;
    if (const auto descriptor = descriptor_of(workload_.workload); !descriptor) {
        report_.message = descriptor.error().message;
        return std::optional<PackagedKernel>();
    }
    const auto usable = usable_algorithms(workload_.workload, context_);
    if (!usable) {
        if (usable.error().code != ErrorCode::unsupported) return usable.error();
        report_.message = usable.error().message;
        return std::optional<PackagedKernel>();
    }
    if (usable->empty()) {
        report_.message = "no algorithm applies of those that --algorithm and --without leave";
        return std::optional<PackagedKernel>();
    }
    const auto best = choose_candidate(workload_.workload, *usable, context_);
    if (!best) return best.error();
    std::vector<CandidateChoice> choices{*best};
    // If the recorded candidate fails, the defaults of all algorithms follow. The first is the one to use untuned.
    for (const Algorithm *algorithm : *usable) {
        const Space space = algorithm->space(workload_.workload, context_.target, core_of(context_));
        if (best->best || space.default_candidate() != best->candidate)
            choices.push_back({space.default_candidate(), {}});
    }
    for (const CandidateChoice &choice : choices) {
        Result<Attempt> attempted = attempt(choice);
        if (!attempted) return attempted.error();
        if (auto *kernel = std::get_if<PackagedKernel>(&*attempted)) {
            report_.source = !kernel->best   ? KernelSource::untuned
                             : kernel->stale ? KernelSource::stale
                                             : KernelSource::tuned;
            return std::optional<PackagedKernel>(std::move(*kernel));
        }
        const std::string what = choice.best ? "the best candidate of trial " + choice.best->trial.id
                                             : "the default of " + choice.candidate.algorithm;
        report_.message += fmt::format("{}{} is not used: {}", report_.message.empty() ? "" : "; ", what,
                                       std::get<std::string>(*attempted));
    }
    return std::optional<PackagedKernel>();
}

Result<Attempt> Collector::attempt(const CandidateChoice &choice) {
    const Result<BuildResult> built =
        environment_.builder.build({workload_.workload, context_.target, choice.candidate});
    if (!built) return built.error();
    if (!built->ok()) {
        return Attempt(fmt::format("{}: {}", name(built->failure().status), built->failure().message));
    }
    PackagedKernel kernel;
    kernel.workload = workload_;
    kernel.target = context_.target;
    kernel.candidate = to_text(choice.candidate);
    kernel.artifact = built->value();
    kernel.best = choice.best;
    if (Status s = find_race(&kernel); !s) return s.error();
    const Result<std::string> problem = judge(choice, &kernel);
    if (!problem) return problem.error();
    return problem->empty() ? Attempt(std::move(kernel)) : Attempt(*problem);
}

// The latest race that the recorded candidate won.
Status Collector::find_race(PackagedKernel *kernel) const {
    if (!kernel->best || kernel->best->evidence != "race") return {};
    const Trial &trial = kernel->best->trial;
    Result<std::vector<Race>> races = environment_.store->races({.workload = trial.workload,
                                                                 .target = trial.target,
                                                                 .machine = trial.machine,
                                                                 .toolchain = trial.toolchain,
                                                                 .threads = trial.threads,
                                                                 .cache = trial.cache,
                                                                 .error_budget = trial.error_budget});
    if (!races) return races.error();
    for (Race &race : *races) {  // oldest first
        if (race.entries.front().trial == trial.id) kernel->race = std::move(race);
    }
    return {};
}

// Judges the kernel's object and fills in its sizes and errors. Answers the reason why it must not ship, or nothing.
Result<std::string> Collector::judge(const CandidateChoice &choice, PackagedKernel *kernel) {
    const Trial *trial = choice.best ? &choice.best->trial : nullptr;
    kernel->stale = trial && trial->object_hash != kernel->artifact.object_hash;
    if (trial && !kernel->stale && trial->workspace_bytes) {
        kernel->workspace_bytes = *trial->workspace_bytes;
        kernel->workspace_bytes_per_thread = trial->workspace_bytes_per_thread.value_or(0);
        kernel->errors = trial->errors;
        return std::string();
    }
    RunRequest request{.workload = workload_.workload, .target = context_.target, .artifact = kernel->artifact};
    request.measure = false;
    if (trial) request.error_budget = trial->error_budget;
    const Result<RunResult> ran = environment_.runner.run(request);
    if (!ran) return ran.error();
    if (!ran->ok()) return fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
    kernel->workspace_bytes = ran->value().workspace_bytes;
    kernel->workspace_bytes_per_thread = ran->value().workspace_bytes_per_thread;
    kernel->errors = ran->value().errors;
    return std::string();
}

}  // namespace

Result<CollectedKernels> collect_kernels(const std::vector<NamedWorkload> &workloads,
                                         const std::vector<Target> &targets, const CollectEnvironment &environment,
                                         const CollectListener &listener) {
    CollectedKernels collected;
    for (const NamedWorkload &workload : merge_equal(workloads)) {
        for (const Target &target : targets) {
            if (environment.interrupted()) return Error{ErrorCode::interrupted, "interrupted; nothing was written"};
            Collector collector(workload, target, environment);
            Result<std::optional<PackagedKernel>> kernel = collector.collect();
            if (!kernel) return kernel.error();
            if (*kernel) collected.kernels.push_back(std::move(**kernel));
            collected.reports.push_back(collector.report());
            listener(collected.reports.back());
        }
    }
    return collected;
}

}  // namespace kiln
