#include "tuner/job/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "records/time_agreement.h"
#include "tuner/job/candidate_judge.h"

namespace kiln {
namespace {

constexpr double same_error = 0.01;  // of the larger one; the same object makes exactly the same

std::string error_text(const std::optional<double> &error) { return error ? fmt::format("{:.3g}", *error) : ""; }

ReproducedFact error_fact(const char *what, const std::optional<double> &recorded, const std::optional<double> &now,
                          bool decides) {
    ReproducedFact fact{what, error_text(recorded), error_text(now), {}, decides};
    if (recorded && now) {
        fact.agrees = *recorded == *now || std::abs(*recorded - *now) <= same_error * std::max(*recorded, *now);
    } else if (recorded || now) {
        fact.agrees = false;
    }
    return fact;
}

ReproducedFact text_fact(const char *what, const std::string &recorded, const std::string &now, bool decides) {
    return {what, recorded, now, recorded == now, decides};
}

bool is_of_right_numbers(TrialStatus status) { return status == TrialStatus::ok || status == TrialStatus::unstable; }

ReproducedFact time_fact(const std::optional<Measurement> &recorded, const std::optional<Measurement> &now) {
    const auto median_text = [](const std::optional<Measurement> &m) {
        if (!m) return std::string();
        return m->metric == Metric::ns ? fmt::format("{:.2f} us", m->median / 1000)
                                       : fmt::format("{:.0f} {}", m->median, name(m->metric));
    };
    ReproducedFact fact{"median", median_text(recorded), median_text(now), {}, false};
    if (!recorded || !now || recorded->metric != now->metric || recorded->machine != now->machine) return fact;
    if (now->metric != Metric::ns) {  // a count is the same each time
        fact.agrees = recorded->median == now->median, fact.decides = true;
        return fact;
    }
    fact.agrees = times_agree(*recorded, *now);
    const bool says_nothing = is_memory_another(*recorded, *now) || do_calls_overlap(*recorded, *now);
    if (!*fact.agrees && says_nothing) fact.agrees.reset();
    return fact;
}

std::optional<MemoryState> memory_of(const std::optional<Measurement> &measurement) {
    return measurement ? memory_state_of(measurement->conditions) : std::nullopt;
}

ReproducedFact memory_fact(const std::optional<MemoryState> &recorded, const std::optional<MemoryState> &now) {
    const auto text_of = [](const auto &state) { return state ? text(*state) : std::string(); };
    ReproducedFact fact{"memory", text_of(recorded), text_of(now), {}, false};
    if (recorded && now) fact.agrees = is_like(*recorded, *now);
    return fact;
}

Result<Reproduction> reproduce_once(const Trial &recorded, const Workload &workload, const Candidate &candidate,
                                    const TuneEnvironment &environment) {
    const Target target{recorded.target, recorded.threads};
    Result<TrialStore> scratch = TrialStore::in_memory();
    if (!scratch) return scratch.error();
    TuneOptions options;
    options.error_budget = recorded.error_budget;
    options.cache = recorded.cache;
    const TuneEnvironment own{environment.builder,    environment.runner, *scratch,
                              environment.machine,    environment.now_ns, environment.timestamp,
                              environment.interrupted};
    const TuneJob job{target, options, own};
    const auto build = [&] { return environment.builder.build({workload, target, candidate}); };
    Result<JudgedCandidate> judged = CandidateJudge(job, workload).judge({candidate, recorded.origin, build});
    if (!judged) return judged.error();
    Reproduction reproduction{std::move(judged->trial), std::nullopt};
    if (reproduction.trial.status != TrialStatus::ok) return reproduction;
    const Trial &t = reproduction.trial;
    Result<std::optional<Measurement>> measurement =
        scratch->measurement(t.object_hash, t.machine, t.threads, t.cache, environment.runner.traits().metric);
    if (!measurement) return measurement.error();
    reproduction.measurement = std::move(*measurement);
    return reproduction;
}

}  // namespace

Result<Reproduction> reproduce(const Trial &recorded, const TuneEnvironment &environment,
                               const std::optional<MemoryState> &memory) {
    constexpr int attempts = 3;
    const Result<Workload> workload = parse_workload_key(recorded.workload);
    if (!workload) return workload.error();
    const Result<Candidate> candidate = parse_candidate(recorded.candidate);
    if (!candidate) return candidate.error();
    for (int attempt = 1;; attempt++) {
        Result<Reproduction> made = reproduce_once(recorded, *workload, *candidate, environment);
        if (!made) return made.error();
        const auto state = memory_of(made->measurement);
        if (attempt == attempts || !memory || !state || is_like(*memory, *state)) return made;
    }
}

std::vector<ReproducedFact> compare(const Trial &recorded, const std::optional<Measurement> &recorded_measurement,
                                    const Reproduction &reproduction) {
    const Trial &now = reproduction.trial;
    // Only the times spread differently, which is the machine's doing; and what was unstable missed the last checks.
    const bool decides =
        now.status == recorded.status || !is_of_right_numbers(now.status) || !is_of_right_numbers(recorded.status);
    std::vector<ReproducedFact> facts;
    facts.push_back(text_fact("machine", recorded.machine, now.machine, false));
    facts.push_back(text_fact("toolchain", recorded.toolchain, now.toolchain, false));
    facts.push_back(text_fact("status", std::string(name(recorded.status)), std::string(name(now.status)), decides));
    if (!recorded.message.empty() || !now.message.empty()) {
        facts.push_back(text_fact("message", recorded.message, now.message, false));
    }
    facts.push_back(text_fact("object", recorded.object_hash, now.object_hash, true));
    if (recorded.object_hash.empty() && now.object_hash.empty()) facts.back().agrees.reset();
    facts.push_back(error_fact("max_error", recorded.errors.max, now.errors.max, decides));
    facts.push_back(error_fact("rms_error", recorded.errors.rms, now.errors.rms, decides));
    facts.push_back(error_fact("wide_error", recorded.errors.wide, now.errors.wide, decides));
    facts.push_back(time_fact(recorded_measurement, reproduction.measurement));
    const auto then = memory_of(recorded_measurement), state = memory_of(reproduction.measurement);
    if (then || state) facts.push_back(memory_fact(then, state));
    return facts;
}

bool is_reproduced(const std::vector<ReproducedFact> &facts) {
    return std::ranges::all_of(facts, [](const ReproducedFact &f) { return !f.decides || f.agrees.value_or(true); });
}

}  // namespace kiln
