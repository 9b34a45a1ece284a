#include "tuner/job/workload_race.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "catalog/catalog.h"
#include "tuner/job/candidate_choice.h"

namespace kiln {
namespace {

constexpr size_t most_heats = 12;
constexpr int fewest_rounds = 5, most_rounds = 15;  // of a heat; more heats tell more than more rounds
constexpr double shortest_sample_ns = 100e3;        // of the measuring process
constexpr double heat_overhead_ns = 100e6, entrant_overhead_ns = 15e6;

const RaceRules rules;

}  // namespace

void WorkloadRace::enter(const Trial &trial, const Summary &time, bool is_default,
                         const std::optional<Artifact> &artifact) {
    contestants_.push_back({trial, time, is_default, artifact});
}

WorkloadRace::Winner WorkloadRace::winner(const Race &race) const {
    const RaceEntry *first = nullptr;
    Winner winner;
    for (const RaceEntry &entry : race.entries) {
        for (const Contestant &c : contestants_) {
            if (!c.is_entered || c.trial.id != entry.trial) continue;
            if (!first) first = &entry, winner = {c.trial.candidate, c.time.median, {}};
            if (c.is_default) winner.default_ns = winner.median_ns * entry.ratio / first->ratio;
        }
    }
    return winner;
}

TrialFilter WorkloadRace::same_conditions() const {
    return {.workload = key(workload_),
            .target = job_.target.halide,
            .machine = job_.environment.runner.traits().machine,
            .toolchain = job_.environment.builder.toolchain(),
            .threads = job_.target.threads,
            .cache = job_.options.cache,
            .error_budget = job_.options.error_budget};
}

Status WorkloadRace::enter_best() {
    const Result<std::optional<Best>> best = job_.environment.store.best(same_conditions());
    if (!best) return best.error();
    if (!*best || contestants_.empty()) return {};
    const Trial &trial = (*best)->trial;
    const Summary time = summarize((*best)->measurement.samples);
    bool is_fastest = true;
    for (const Contestant &c : contestants_) {
        if (c.trial.id == trial.id) return {};
        is_fastest &= time.quiet <= c.time.quiet;
    }
    const Result<Candidate> candidate = parse_candidate(trial.candidate);
    const Algorithm *algorithm = candidate ? find_algorithm(candidate->algorithm) : nullptr;
    if (!algorithm) return {};
    // Part of the work of a prepared kernel is its caller's: it can lose to others, not stand in their way.
    if (is_fastest && !is_asked_for(*algorithm, job_.options.algorithm) && algorithm->prepares) return {};
    contestants_.push_back({trial, time, false, std::nullopt, false});
    return {};
}

Result<std::vector<size_t>> WorkloadRace::choose_field() {
    if (Status s = enter_best(); !s) return s.error();
    Result<std::vector<Race>> races = job_.environment.store.races(same_conditions());
    if (!races) return races.error();
    std::set<std::string> raced;
    std::string incumbent;
    if (!races->empty()) {
        incumbent = races->back().entries.front().trial;
        for (const RaceEntry &entry : races->back().entries) raced.insert(entry.trial);
    }
    std::vector<Contender> contenders;
    for (const Contestant &c : contestants_) {
        contenders.push_back({c.trial.object_hash, c.trial.object_bytes.value_or(0), c.time.quiet,
                              c.trial.id == incumbent, c.is_default});
    }
    std::vector<size_t> field = race_field(contenders, {});
    const bool all_raced =
        std::all_of(field.begin(), field.end(), [&](size_t i) { return raced.contains(contestants_[i].trial.id); });
    if (field.size() < 2 || all_raced) field.clear();
    return field;
}

// The contestants whose kernels are still there, or can be built again as they were judged.
Result<std::vector<size_t>> WorkloadRace::built(const std::vector<size_t> &field) {
    std::vector<size_t> available;
    for (const size_t i : field) {
        Contestant &c = contestants_[i];
        if (!c.artifact) {
            Result<Candidate> candidate = parse_candidate(c.trial.candidate);
            if (!candidate) continue;
            Result<BuildResult> result = job_.environment.builder.build({workload_, job_.target, *candidate});
            if (!result) return result.error();
            if (!result->ok() || result->value().object_hash != c.trial.object_hash) continue;
            c.artifact = result->value();
        }
        available.push_back(i);
    }
    return available;
}

// In a round each kernel runs once untimed and is then timed.
double WorkloadRace::round_ns(const std::vector<size_t> &field) const {
    double sum = 0;
    for (const size_t i : field) {
        const double ns = contestants_[i].time.median;
        sum += ns + std::max(ns, shortest_sample_ns);
    }
    return sum;
}

// False: a kernel failed, though it was judged before; then there is no race.
Result<bool> WorkloadRace::run_heat(const std::vector<size_t> &field, const Heat &heat) {
    HeatRequest request;
    request.workload = workload_;
    request.target = job_.target;
    request.cache = job_.options.cache;
    request.rounds = heat.rounds;
    request.seed = heat.seed;
    request.out_of_time = [this, start_ns = job_.environment.now_ns(), time_ns = heat.time_ns] {
        return job_.options.time_limit_ns && job_.environment.now_ns() - start_ns > 2 * time_ns;
    };
    for (const size_t r : heat.racing) {
        const Contestant &c = contestants_[field[r]];
        request.artifacts.push_back(*c.artifact);
        request.workspace_bytes = std::max(request.workspace_bytes, c.trial.workspace_bytes.value_or(0));
        request.workspace_bytes_per_thread =
            std::max(request.workspace_bytes_per_thread, c.trial.workspace_bytes_per_thread.value_or(0));
    }
    auto ran = job_.environment.runner.heat(request);
    if (!ran) return ran.error();
    if (!ran->ok()) return false;
    const HeatReport &report = ran->value();
    for (size_t k = 0; k < heat.racing.size(); k++) entrants_[heat.racing[k]].heats.push_back(report.times[k]);
    conditions_.push_back(report.conditions);
    return true;
}

Result<std::optional<Race>> WorkloadRace::run(int64_t time_ns) {
    const RunnerTraits &traits = job_.environment.runner.traits();
    if (!traits.is_noisy || traits.metric != Metric::ns) return std::optional<Race>();  // rounds are planned by time
    Result<std::vector<size_t>> chosen = choose_field();
    if (!chosen) return chosen.error();
    const double needed_ns = static_cast<double>(rules.fewest_heats) *
                             (heat_overhead_ns + entrant_overhead_ns * static_cast<double>(chosen->size()) +
                              fewest_rounds * round_ns(*chosen));
    if (chosen->empty() || needed_ns > 2 * static_cast<double>(time_ns)) return std::optional<Race>();
    Result<std::vector<size_t>> field = built(*chosen);
    if (!field) return field.error();
    if (field->size() < 2) return std::optional<Race>();

    const double heat_ns = static_cast<double>(time_ns) / 8;
    const int rounds = static_cast<int>(std::clamp<double>(heat_ns / round_ns(*field), fewest_rounds, most_rounds));
    entrants_.clear(), conditions_.clear();
    std::vector<size_t> racing;
    for (size_t r = 0; r < field->size(); r++) {
        entrants_.push_back({contestants_[(*field)[r]].trial.object_bytes.value_or(0), {}});
        racing.push_back(r);
    }
    const auto now = [&] { return job_.environment.now_ns(); };
    const int64_t start_ns = now();
    for (size_t heat = 0; heat < most_heats && !racing.empty(); heat++) {
        const int64_t heat_start_ns = now();
        Result<bool> ran = run_heat(*field, {racing, rounds, job_.options.seed + heat, time_ns});
        if (!ran) return ran.error();
        if (!*ran) return std::optional<Race>();
        racing = still_racing(entrants_, rules);
        const int64_t next_end_ns = now() + (now() - heat_start_ns);
        if (heat + 1 >= rules.fewest_heats && next_end_ns > start_ns + time_ns) break;
    }
    Race race = record_of(*field);
    Result<std::string> id = job_.environment.store.append(race);
    if (!id) return id.error();
    race.id = *id;
    return std::optional(std::move(race));
}

Race WorkloadRace::record_of(const std::vector<size_t> &field) const {
    const TrialFilter conditions = same_conditions();
    Race race;
    race.workload = conditions.workload;
    race.target = conditions.target;
    race.threads = job_.target.threads;
    race.machine = conditions.machine;
    race.toolchain = conditions.toolchain;
    race.cache = job_.options.cache;
    race.error_budget = job_.options.error_budget;
    race.metric = job_.environment.runner.traits().metric;
    race.confidence = rules.bootstrap.confidence;
    race.conditions = fmt::format("{{\"heats\":[{}]}}", fmt::join(conditions_, ","));
    race.created_at = job_.environment.timestamp();
    for (const RacePlace &place : final_places(entrants_, rules)) {
        RaceEntry &entry = race.entries.emplace_back();
        entry.trial = contestants_[field[place.entrant]].trial.id;
        entry.ratio = place.to_winner.ratio;
        entry.ratio_lo = place.to_winner.lo;
        entry.ratio_hi = place.to_winner.hi;
        for (const Samples &heat : entrants_[place.entrant].heats) {
            entry.samples.insert(entry.samples.end(), heat.begin(), heat.end());
        }
    }
    return race;
}

}  // namespace kiln
