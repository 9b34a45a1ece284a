#include "tuner/job/candidate_choice.h"

#include <algorithm>

#include "workload/lists/glob.h"
#include "workload/lists/workload_list.h"

namespace kiln {
namespace {

// The candidate of a row, when it is one of `usable` and can still be built.
std::optional<Candidate> buildable(const Trial &trial, const Workload &workload,
                                   const std::vector<const Algorithm *> &usable, const ChoiceContext &context) {
    const Result<Candidate> candidate = parse_candidate(trial.candidate);
    if (!candidate || context.passed_over.contains(to_text(*candidate))) return {};
    const auto allowed = [&](const Algorithm *a) { return a->name == candidate->algorithm; };
    if (std::none_of(usable.begin(), usable.end(), allowed)) return {};
    if (!check_candidate(*candidate, workload, context.target)) return {};
    return *candidate;
}

// Those of the rows that the filter leaves, with what was measured of them.
Result<std::vector<CandidateChoice>> measured(const Workload &workload, const std::vector<const Algorithm *> &usable,
                                              const ChoiceContext &context, const TrialFilter &filter) {
    const auto trials = context.store->usable_trials(filter);
    if (!trials) return trials.error();
    const Metric metric = is_soft_core(context.target) ? Metric::cycles : Metric::ns;
    std::vector<CandidateChoice> found;
    for (const Trial &trial : *trials) {
        const auto candidate = buildable(trial, workload, usable, context);
        if (!candidate) continue;
        const auto measurement =
            context.store->measurement(trial.object_hash, trial.machine, trial.threads, trial.cache, metric);
        if (!measurement) return measurement.error();
        if (*measurement) found.push_back({*candidate, Best{trial, **measurement, "median"}});
    }
    return found;
}

TrialFilter filter_of(const Workload &workload, const ChoiceContext &context) {
    return {.workload = key(workload),
            .target = context.target.halide,
            .machine = key(context.machine),
            .toolchain = context.toolchain,
            .threads = context.target.threads,
            .cache = {},
            .within_budget = context.error_budget};
}

Result<std::optional<CandidateChoice>> best_recorded(const Workload &workload,
                                                     const std::vector<const Algorithm *> &usable,
                                                     const ChoiceContext &context, const TrialFilter &filter) {
    const auto best = context.store->best(filter);
    if (!best) return best.error();
    std::optional<CandidateChoice> chosen;
    if (*best) {
        if (const auto candidate = buildable((*best)->trial, workload, usable, context)) chosen = {*candidate, **best};
    }
    if (chosen && chosen->best->evidence == "race") return chosen;
    // The view `best` keeps the winners of each error budget only, and those may be out for their errors or because
    // they cannot be built any more: the lowest median of what remains.
    auto remaining = measured(workload, usable, context, filter);
    if (!remaining) return remaining.error();
    for (CandidateChoice &choice : *remaining) {
        if (!chosen || choice.best->measurement.median < chosen->best->measurement.median) chosen = std::move(choice);
    }
    return chosen;
}

}  // namespace

bool is_asked_for(const Algorithm &algorithm, std::string_view pattern) {
    return glob_match(pattern, algorithm.name) && !(algorithm.prepares && pattern == "*");
}

bool AlgorithmFilter::allows(const Algorithm &a) const {
    return is_asked_for(a, algorithm) && (without.empty() || !glob_match(without, a.name));
}

Core core_of(const ChoiceContext &context) { return core_of(context.machine, context.target); }

bool reads_planes_as_fast(const Workload &workload, const ChoiceContext &context) {
    return reads_planes_as_fast(workload, context.target, core_of(context), context.error_budget);
}

Result<std::vector<const Algorithm *>> usable_algorithms(const Workload &workload, const ChoiceContext &context) {
    std::vector<const Algorithm *> usable;
    bool any = false;
    Refusals refusals;
    for (const Algorithm *algorithm : by_preference(workload, context.target, core_of(context), context.error_budget)) {
        const Status applies = algorithm->applies(workload, context.target);
        any |= applies.ok();
        if (!applies) {
            refusals.add(algorithm->name, applies.error().message);
        } else if (context.algorithms.allows(*algorithm)) {
            usable.push_back(algorithm);
        }
    }
    if (!any) return unsupported(refusals.text());
    return usable;
}

Result<CandidateChoice> choose_candidate(const Workload &workload, const std::vector<const Algorithm *> &usable,
                                         const ChoiceContext &context) {
    if (context.store) {
        TrialFilter filter = filter_of(workload, context);
        for (const CacheMode cache : context.caches) {
            for (const std::string &toolchain : {context.toolchain, std::string()}) {
                filter.cache = cache, filter.toolchain = toolchain;
                const auto chosen = best_recorded(workload, usable, context, filter);
                if (!chosen) return chosen.error();
                if (*chosen) return **chosen;
            }
        }
    }
    return CandidateChoice{usable.front()->space(workload, context.target, core_of(context)).default_candidate(), {}};
}

Result<std::vector<CandidateChoice>> recorded_candidates(const Workload &workload,
                                                         const std::vector<const Algorithm *> &usable,
                                                         const ChoiceContext &context) {
    std::vector<CandidateChoice> distinct;
    if (!context.store) return distinct;
    TrialFilter filter = filter_of(workload, context);
    for (const CacheMode cache : context.caches) {
        for (const std::string &toolchain : {context.toolchain, std::string()}) {
            filter.cache = cache, filter.toolchain = toolchain;
            auto found = measured(workload, usable, context, filter);
            if (!found) return found.error();
            std::set<std::string> objects;
            for (CandidateChoice &choice : *found) {
                if (objects.insert(choice.best->trial.object_hash).second) distinct.push_back(std::move(choice));
            }
            if (!distinct.empty()) return distinct;
        }
    }
    return distinct;
}

}  // namespace kiln
