#include "package/package_kernels.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "package/kernel_descriptor.h"
#include "tuner/build/stack_usage.h"
#include "tuner/job/candidate_choice.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// A kernel, or the reason why there is none.
using Attempt = std::variant<PackagedKernel, std::string>;

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

class Collector {
public:
    Collector(const NamedWorkload &workload, const Target &target, const CollectEnvironment &environment)
        : workload_(workload), environment_(environment), context_(context_of(target, environment)) {
        report_.workload = workload;
        report_.target = target;
    }

    // The kernel, if there is one. The report says how it came about.
    Result<std::optional<PackagedKernel>> collect();
    const KernelReport &report() const { return report_; }

private:
    using Kernel = std::optional<PackagedKernel>;
    Result<Kernel> recorded(const std::vector<const Algorithm *> &usable);
    Result<Kernel> untuned(const std::vector<const Algorithm *> &usable);
    Result<Kernel> try_one(const CandidateChoice &choice);
    Result<Attempt> attempt(const CandidateChoice &choice);
    Result<std::string> judge(PackagedKernel *kernel) const;
    Status find_race(PackagedKernel *kernel) const;

    const NamedWorkload &workload_;
    const CollectEnvironment &environment_;
    ChoiceContext context_;
    KernelReport report_;
};

Result<std::optional<PackagedKernel>> Collector::collect() {
    if (has_empty_result(workload_.workload)) {
        report_.source = KernelSource::empty;
        report_.message = empty_result_text;
        return std::optional<PackagedKernel>();
    }
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
    if (const auto wanted = environment_.wanted.find(key(workload_.workload)); wanted != environment_.wanted.end()) {
        Result<Kernel> kernel = try_one(wanted->second);
        if (!kernel || *kernel) return kernel;
        context_.passed_over.insert(to_text(wanted->second.candidate));
    }
    Result<Kernel> kernel = recorded(*usable);
    return kernel && !*kernel ? untuned(*usable) : kernel;
}

// The best recorded candidate that holds here. One bad row must not keep the good ones from being used, and many bad
// rows must not keep the build from ending.
Result<std::optional<PackagedKernel>> Collector::recorded(const std::vector<const Algorithm *> &usable) {
    constexpr int most_attempts = 8;
    for (int i = 0; i < most_attempts; i++) {
        const Result<CandidateChoice> choice = choose_candidate(workload_.workload, usable, context_);
        if (!choice) return choice.error();
        if (!choice->best) break;
        Result<Kernel> kernel = try_one(*choice);
        if (!kernel || *kernel) return kernel;
        context_.passed_over.insert(to_text(choice->candidate));
    }
    return Kernel();
}

// The default of an algorithm. The first algorithm is the one to use untuned; the others follow if it fails. Where all of
// them fail, a few other candidates follow, always the same ones: the compiler makes wrong code of some schedules.
Result<std::optional<PackagedKernel>> Collector::untuned(const std::vector<const Algorithm *> &usable) {
    constexpr int most_others = 8;
    std::string why;  // of the first one: the others' reasons are of the same kind
    for (const Algorithm *algorithm : usable) {
        const Space space = algorithm->space(workload_.workload, context_.target, core_of(context_));
        Result<Kernel> kernel = try_one({space.default_candidate(), {}});
        if (!kernel || *kernel) return kernel;
        if (why.empty()) why = report_.message;
    }
    const Space space = usable.front()->space(workload_.workload, context_.target, core_of(context_));
    std::set<std::string> tried = {to_text(space.default_candidate())};
    Rng rng(1);
    for (int i = 0; i < most_others; i++) {
        const auto candidate = space.sample(rng);
        if (!candidate || !tried.insert(to_text(*candidate)).second) continue;
        Result<Kernel> kernel = try_one({*candidate, {}});
        report_.message = why;
        if (!kernel || *kernel) return kernel;
    }
    const size_t others = usable.size() - 1 + tried.size() - 1;
    report_.message = why + (others > 0 ? fmt::format("; nor are {} others", others) : "");
    return Kernel();
}

Result<std::optional<PackagedKernel>> Collector::try_one(const CandidateChoice &choice) {
    if (environment_.interrupted()) return Error{ErrorCode::interrupted, "interrupted; nothing was written"};
    Result<Attempt> attempted = attempt(choice);
    if (!attempted) return attempted.error();
    if (auto *kernel = std::get_if<PackagedKernel>(&*attempted)) {
        report_.source = !kernel->best   ? KernelSource::untuned
                         : kernel->stale ? KernelSource::stale
                                         : KernelSource::tuned;
        return Kernel(std::move(*kernel));
    }
    const std::string what = choice.best ? "the best candidate of trial " + choice.best->trial.id
                                         : "the default of " + choice.candidate.algorithm;
    report_.message += fmt::format("{}{} is not used: {}", report_.message.empty() ? "" : "; ", what,
                                   std::get<std::string>(*attempted));
    return Kernel();
}

Result<Attempt> Collector::attempt(const CandidateChoice &choice) {
    if (choice.best && !is_time(choice.best->measurement.median)) {
        return Attempt(fmt::format("its recorded median of {} ns is no time", choice.best->measurement.median));
    }
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
    kernel.stale = choice.best && choice.best->trial.object_hash != kernel.artifact.object_hash;
    if (Status s = find_race(&kernel); !s) return s.error();
    const Result<std::string> problem = judge(&kernel);
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
        const bool is_won = !race.entries.empty() && race.entries.front().trial == trial.id;
        if (is_won) kernel->race = std::move(race);
    }
    return {};
}

// Judges the kernel's object and fills in its sizes and errors. Answers the reason why it must not ship, or nothing.
Result<std::string> Collector::judge(PackagedKernel *kernel) const {
    RunRequest request{.workload = workload_.workload,
                       .target = context_.target,
                       .artifact = kernel->artifact,
                       .error_budget = environment_.error_budget};
    request.measure = is_soft_core(context_.target);  // a count costs nothing
    const Result<RunResult> ran = environment_.runner.run(request);
    if (!ran) return ran.error();
    if (!ran->ok()) return fmt::format("{}: {}", name(ran->failure().status), ran->failure().message);
    const RunReport &report = ran->value();
    if (!report.errors.max || !report.errors.within(request.error_budget)) {
        return fmt::format("its error here is {:.2g}, and the largest allowed is {:.2g}",
                           report.errors.max.value_or(INFINITY), request.error_budget);
    }
    kernel->workspace_bytes = report.workspace_bytes;
    kernel->workspace_bytes_per_thread = report.workspace_bytes_per_thread;
    kernel->errors = report.errors;
    if (is_soft_core(context_.target)) {
        if (const int64_t stack = kernel->artifact.stack_bytes; stack > most_stack_bytes) {
            return fmt::format("it needs {} bytes of stack, and kernels for soft cores may use {}", stack,
                               most_stack_bytes);
        }
        const int64_t cycles = report.samples.empty() ? 0 : static_cast<int64_t>(report.samples.front());
        kernel->soft_core = {.core = environment_.machine.cpu_model, .cycles = cycles, .conditions = report.conditions};
    }
    kernel->judgement = {.machine = key(environment_.machine), .error_budget = request.error_budget};
    return std::string();
}

}  // namespace

ChoiceContext context_of(const Target &target, const CollectEnvironment &environment) {
    return {.target = target,
            .machine = environment.machine,
            .store = environment.store,
            .toolchain = environment.builder.toolchain(),
            .algorithms = environment.algorithms,
            .error_budget = environment.error_budget,
            .caches = environment.caches,
            .passed_over = {}};
}

void expect_kernels(const std::vector<NamedWorkload> &workloads, const std::vector<Target> &targets,
                    const CollectEnvironment &environment, ExpectedBuilds &builds) {
    for (const NamedWorkload &workload : merge_equal(workloads)) {
        for (const Target &target : targets) {
            const ChoiceContext context = context_of(target, environment);
            const auto usable = usable_algorithms(workload.workload, context);
            if (!usable || usable->empty()) continue;
            const auto wanted = environment.wanted.find(key(workload.workload));
            if (wanted != environment.wanted.end()) {
                builds.expect({workload.workload, target, wanted->second.candidate});
                continue;
            }
            const Result<CandidateChoice> choice = choose_candidate(workload.workload, *usable, context);
            if (choice) builds.expect({workload.workload, target, choice->candidate});
        }
    }
}

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
