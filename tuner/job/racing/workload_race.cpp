#include "tuner/job/racing/workload_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "catalog/catalog.h"
#include "records/time_agreement.h"
#include "tuner/job/racing/failed_trial.h"
#include "tuner/job/racing/finals.h"
#include "tuner/job/racing/race_record.h"
#include "tuner/measure/memory_bound.h"

namespace kiln {
namespace {

constexpr size_t most_heats = 12;
constexpr int fewest_rounds = 5, most_rounds = 15;  // of a heat; more heats tell more than more rounds
constexpr int most_races = 3, most_lucky = 3;

const RaceRules rules;

}  // namespace

void WorkloadRace::enter(const Trial &trial, const RecordedTime &time, bool is_default,
                         const std::optional<Artifact> &artifact) {
    contestants_.push_back({trial, time, is_default, artifact});
}

bool WorkloadRace::renew(const Trial &later, const RecordedTime &time) {
    bool is_known = false;
    for (Contestant &c : contestants_) {
        if (c.trial.candidate != later.candidate) continue;
        is_known = true;
        if (c.trial.object_hash == later.object_hash) c.renew(later, time);
    }
    return is_known;
}

void WorkloadRace::leave(const Trial &later) {
    std::erase_if(contestants_, [&](const Contestant &c) {
        return c.trial.candidate == later.candidate && c.trial.object_hash == later.object_hash;
    });
}

std::optional<WorkloadRace::Winner> WorkloadRace::fastest_recorded() const {
    const Contestant *fastest = nullptr, *standard = nullptr;
    for (const Contestant &c : contestants_) {
        if (!c.is_entered) continue;
        if (c.is_default) standard = &c;
        const auto is_before = [](const Contestant &a, const Contestant &b) {
            return std::tie(a.time.median, a.trial.candidate) < std::tie(b.time.median, b.trial.candidate);
        };
        if (!fastest || is_before(c, *fastest)) fastest = &c;
    }
    if (!fastest) return std::nullopt;
    return Winner{fastest->trial.candidate, fastest->time.median,
                  standard ? std::optional(standard->time.median) : std::nullopt};
}

WorkloadRace::Winner WorkloadRace::winner(const Race &race) const {
    const RaceEntry *first = nullptr;
    const Contestant *standard = nullptr, *fastest = nullptr;
    for (const Contestant &c : contestants_) {
        if (c.is_default) standard = &c;
    }
    Winner winner;
    for (const RaceEntry &entry : race.entries) {
        for (const Contestant &c : contestants_) {
            if (!c.is_entered || !c.is(entry.trial)) continue;
            if (!first) first = &entry, fastest = &c, winner = {c.trial.candidate, c.time.median, {}};
            if (c.is_default) winner.default_ns = winner.median_ns * entry.ratio / first->ratio;
        }
    }
    // A default that lost before the race took turns with the winner then: they tell more than times of two minutes do.
    if (fastest && standard && !winner.default_ns) {
        const std::optional<double> winner_turn = turn_of(*fastest), default_turn = turn_of(*standard);
        winner.default_ns =
            winner_turn && default_turn ? winner.median_ns * *default_turn / *winner_turn : standard->time.median;
    }
    return winner;
}

Result<std::optional<WorkloadRace::Winner>> WorkloadRace::best_recorded() const {
    const std::optional<Winner> fastest = fastest_recorded();
    // Counts are exact: one that is lower than a judged winner's is told as what the judge has not seen yet.
    if (!fastest || job_.environment.runner.traits().metric != Metric::ns) return fastest;
    const TrialFilter conditions = same_conditions(job_, workload_);
    const Result<std::optional<Best>> best = job_.environment.store.best(conditions);
    const Result<std::vector<Race>> races = job_.environment.store.races(conditions);
    if (!best || !races) {
        const Error &error = best ? races.error() : best.error();
        if (error.code == ErrorCode::interrupted) return fastest;  // what was tuned until then is worth its answer
        return error;
    }
    const bool decides = *best && (*best)->evidence == "race" && !races->empty();
    if (!decides || races->back().entries.front().trial != (*best)->trial.id) return fastest;
    const Winner first = winner(races->back());
    return first.candidate.empty() ? fastest : std::optional(first);
}

std::optional<double> WorkloadRace::turn_of(const Contestant &contestant) const {
    for (const QualifyingTurn &turn : turns_) {
        if (contestant.is(turn.trial)) return turn.ns;
    }
    return std::nullopt;
}

Status WorkloadRace::enter_best() {
    const Result<std::optional<Best>> best = job_.environment.store.best(same_conditions(job_, workload_));
    if (!best) return best.error();
    if (!*best || contestants_.empty()) return {};
    const Trial &trial = (*best)->trial;
    const RecordedTime time = recorded_time_of((*best)->measurement);
    bool is_fastest = true;
    for (const Contestant &c : contestants_) {
        if (c.is(trial.id)) return {};
        is_fastest &= time.quiet <= c.time.quiet;
    }
    const Result<Candidate> candidate = parse_candidate(trial.candidate);
    const Algorithm *algorithm = candidate ? find_algorithm(candidate->algorithm) : nullptr;
    if (!algorithm) return {};
    // Part of the work of a prepared kernel is its caller's: it can lose to others, not stand in their way.
    if (is_fastest && algorithm->prepares) return {};
    contestants_.push_back({trial, time, false, std::nullopt, false});
    return {};
}

Status WorkloadRace::look_up_races() {
    Result<std::vector<Race>> races = job_.environment.store.races(same_conditions(job_, workload_));
    if (!races) return races.error();
    incumbent_.clear(), raced_.clear();
    if (races->empty()) return {};
    const Race &last = races->back();
    incumbent_ = last.entries.front().trial;
    raced_ = qualified_trials(last.conditions);
    for (const RaceEntry &entry : last.entries) raced_.push_back(entry.trial);
    return {};
}

bool WorkloadRace::were_all_raced(const std::vector<size_t> &field) const {
    return std::ranges::all_of(field, [&](size_t i) {
        return std::ranges::any_of(raced_, [&](const std::string &id) { return contestants_[i].is(id); });
    });
}

std::vector<size_t> WorkloadRace::field_by_records() const {
    std::vector<Contender> contenders;
    for (const Contestant &c : contestants_) {
        contenders.push_back(
            {c.trial.object_hash, c.trial.object_bytes.value_or(0), c.time.quiet, c.is(incumbent_), c.is_default});
    }
    return race_field(contenders, {});
}

Result<WorkloadRace::Outcome> WorkloadRace::field_by_turns(int64_t time_ns, std::vector<size_t> *field) {
    Result<QualifiedField> qualified = qualify(&contestants_, heats_, {incumbent_, job_.options.seed, time_ns / 3});
    if (!qualified) return qualified.error();
    if (qualified->failed) return leave_out_failed(*qualified->failed);
    turns_ = std::move(qualified->turns);
    *field = std::move(qualified->field);
    return Outcome::good;
}

bool WorkloadRace::has_time(const std::vector<size_t> &field, int64_t time_ns) const {
    const double needed_ns = static_cast<double>(rules.fewest_heats) * heat_ns(contestants_, field, fewest_rounds);
    return needed_ns <= 2 * static_cast<double>(time_ns);
}

Result<std::optional<Race>> WorkloadRace::run(int64_t time_ns) {
    const RunnerTraits &traits = job_.environment.runner.traits();
    notes_.clear(), turns_.clear();
    failures_ = 0;
    if (traits.judges_finalists) return hold_finals();
    if (!traits.is_noisy || traits.metric != Metric::ns) return std::optional<Race>();  // rounds are planned by time
    if (Status s = enter_best(); !s) return s.error();
    if (Status s = look_up_races(); !s) return s.error();
    if (sentinel_bytes(workload_, job_.environment.machine, job_.target.threads) > 0) return race_by_turns(time_ns);
    return race_by_records(time_ns);
}

Result<std::optional<Race>> WorkloadRace::race_by_records(int64_t time_ns) {
    for (;;) {
        const std::vector<size_t> chosen = field_by_records();
        if (chosen.size() < 2 || were_all_raced(chosen) || !has_time(chosen, time_ns)) return std::optional<Race>();
        const Result<std::vector<size_t>> field = heats_.built(&contestants_, chosen);
        if (!field) return field.error();
        if (field->size() < 2) return std::optional<Race>();
        const Result<Outcome> held = hold(*field, time_ns);
        if (!held) return held.error();
        if (*held == Outcome::somebody_left) continue;
        if (*held == Outcome::bad) return std::optional<Race>();
        Result<Race> race = record(*field);
        if (!race) return race.error();
        return std::optional(std::move(*race));
    }
}

// Takes as long as it takes: what a count is compared with is another count.
Result<std::optional<Race>> WorkloadRace::hold_finals() {
    if (Status s = enter_best(); !s) return s.error();
    if (Status s = look_up_races(); !s) return s.error();
    const std::vector<size_t> chosen = finalists(contestants_, incumbent_);
    if (chosen.size() < 2 || were_all_raced(chosen)) return std::optional<Race>();
    const Result<std::vector<size_t>> field = heats_.built(&contestants_, chosen);
    if (!field) return field.error();
    RaceHeats::Heat order{{}, 1, job_.options.seed, 0};
    for (const size_t i : *field) order.racing.push_back(&contestants_[i]);
    if (order.racing.size() < 2) return std::optional<Race>();
    const Result<Attempt<HeatReport>> ran = heats_.run(order);
    if (!ran) return ran.error();
    if (!ran->ok()) {
        const Result<Outcome> left = leave_out_failed({*field, ran->failure()});
        if (!left) return left.error();
        return *left == Outcome::somebody_left ? hold_finals() : std::optional<Race>();
    }
    const HeatReport &report = ran->value();
    Race race = race_under(same_conditions(job_, workload_), job_);
    race.confidence = ratio_confidence;
    race.conditions = to_json(RaceConditions{{report.conditions}, {}, notes_});
    race.entries = final_entries(contestants_, *field, report.times);
    Result<Race> recorded = record(std::move(race));
    if (!recorded) return recorded.error();
    return std::optional(std::move(*recorded));
}

// In limited time everything that is optional ends with the race's own time.
Result<std::optional<Race>> WorkloadRace::race_by_turns(int64_t time_ns) {
    std::optional<Race> last;
    const std::vector<size_t> promising = first_qualifiers(contestants_, incumbent_);
    if (promising.size() < 2 || were_all_raced(promising)) return last;
    if (!has_time({promising[0], promising[1]}, time_ns)) return last;
    const bool is_limited = job_.options.time_limit_ns.has_value();
    const int64_t end_ns = job_.environment.now_ns() + (is_limited ? 1 : 3) * time_ns;
    const auto is_over = [&] { return job_.environment.now_ns() >= end_ns; };
    const auto may_go_on = [&] { return !is_limited || !is_over(); };
    for (int races = 1; races <= most_races;) {
        std::vector<size_t> field;
        const Result<Outcome> found = field_by_turns(time_ns, &field);
        if (!found) return found.error();
        if (*found == Outcome::somebody_left && may_go_on()) continue;
        if (*found != Outcome::good || field.size() < 2 || !has_time(field, time_ns)) break;
        const Result<Outcome> held = hold(field, is_limited ? time_ns / 2 : time_ns);
        if (!held) return held.error();
        if (*held == Outcome::somebody_left && may_go_on()) continue;
        if (*held != Outcome::good) break;
        const Result<Outcome> confirmed = is_confirmed(field, end_ns);
        if (!confirmed) return confirmed.error();
        if (*confirmed == Outcome::somebody_left && may_go_on()) continue;
        if (*confirmed == Outcome::somebody_left) break;
        if (*confirmed == Outcome::bad && races == most_races)
            notes_.push_back("this machine's memory is too busy to be sure of a time");
        Result<Race> race = record(field);
        if (!race) return race.error();
        last = std::move(*race);
        incumbent_ = last->entries.front().trial;
        if (*confirmed == Outcome::good || is_over()) break;
        races++;
    }
    return last;
}

// The heats.
Result<WorkloadRace::Outcome> WorkloadRace::hold(const std::vector<size_t> &field, int64_t time_ns) {
    const double heat_share_ns = static_cast<double>(time_ns) / 8;
    const int rounds =
        static_cast<int>(std::clamp<double>(heat_share_ns / round_ns(contestants_, field), fewest_rounds, most_rounds));
    entrants_.clear(), conditions_.clear();
    std::vector<size_t> racing;
    for (size_t r = 0; r < field.size(); r++) {
        const Contestant &c = contestants_[field[r]];
        entrants_.push_back({c.trial.object_bytes.value_or(0), {}, c.is_default});
        racing.push_back(r);
    }
    const auto now = [&] { return job_.environment.now_ns(); };
    const int64_t start_ns = now();
    for (size_t heat = 0; heat < most_heats && !racing.empty(); heat++) {
        const int64_t heat_start_ns = now();
        RaceHeats::Heat order{{}, rounds, job_.options.seed + heat, time_ns};
        for (const size_t r : racing) order.racing.push_back(&contestants_[field[r]]);
        const Result<Attempt<HeatReport>> ran = heats_.run(order);
        if (!ran) return ran.error();
        if (!ran->ok()) {
            FailedHeat failed{{}, ran->failure()};
            for (const size_t r : racing) failed.racing.push_back(field[r]);
            return leave_out_failed(failed);
        }
        for (size_t k = 0; k < racing.size(); k++) entrants_[racing[k]].heats.push_back(ran->value().times[k]);
        conditions_.push_back(ran->value().conditions);
        racing = still_racing(entrants_, rules);
        const int64_t next_end_ns = now() + (now() - heat_start_ns);
        if (heat + 1 >= rules.fewest_heats && next_end_ns > start_ns + time_ns) break;
    }
    return Outcome::good;
}

// A heat does not tell whose fault it was, so each of its kernels runs alone.
Result<WorkloadRace::Outcome> WorkloadRace::leave_out_failed(const FailedHeat &heat) {
    std::vector<size_t> alone = heat.racing;
    std::ranges::sort(alone, std::greater());  // whoever leaves moves those behind it
    Outcome outcome = Outcome::bad;
    for (const size_t contestant : alone) {
        RunRequest request;
        request.workload = workload_;
        request.target = job_.target;
        request.artifact = *contestants_[contestant].artifact;
        request.error_budget = job_.options.error_budget;
        request.measure = false;
        const Result<RunResult> ran = job_.environment.runner.run(request);
        if (!ran) return ran.error();
        if (ran->ok()) continue;
        if (Status s = leave_out(contestant, ran->failure()); !s) return s.error();
        outcome = Outcome::somebody_left;
    }
    if (outcome == Outcome::bad) {
        notes_.push_back(fmt::format("there was no race: a heat failed ({}), though each of its kernels is right alone",
                                     heat.failure.message));
    }
    return outcome;
}

Status WorkloadRace::leave_out(size_t contestant, const Failure &failure) {
    Trial later = contestants_[contestant].trial;
    later.id.clear();
    later.created_at = job_.environment.timestamp();
    record_failure(failure, &later);
    const Result<std::string> id = job_.environment.store.append(later, std::nullopt);
    if (!id) return id.error();
    failures_++;
    notes_.push_back(fmt::format("{} failed when it ran again, and is out: {}, {} (trial {:.8})", later.candidate,
                                 name(later.status), later.message, *id));
    contestants_.erase(contestants_.begin() + static_cast<std::ptrdiff_t>(contestant));
    return {};
}

Result<WorkloadRace::Outcome> WorkloadRace::confirm(size_t contestant, const char *whose, int64_t end_ns) {
    // Without a limit of time a time that nothing confirmed would be what the job says of its winner.
    const auto out_of_time = [&] { return job_.options.time_limit_ns && job_.environment.now_ns() >= end_ns; };
    Result<TimeConfirmation::Answer> answer = confirmation_.confirm(&contestants_[contestant], out_of_time);
    if (!answer && answer.error().code == ErrorCode::interrupted && !job_.environment.interrupted()) {
        notes_.push_back(fmt::format("{} time was not confirmed: there was no time left", whose));
        return Outcome::bad;
    }
    if (!answer) return answer.error();
    if (answer->failure) {
        if (Status s = leave_out(contestant, *answer->failure); !s) return s.error();
        return Outcome::somebody_left;
    }
    if (answer->holds) return Outcome::good;
    notes_.push_back(fmt::format("{} time of {}", whose, answer->note));
    return Outcome::bad;
}

// Whether a fresh process confirms the winner's time, and no other recorded time is shorter that is not refuted. Everything
// that does not hold is replaced.
Result<WorkloadRace::Outcome> WorkloadRace::is_confirmed(const std::vector<size_t> &field, int64_t end_ns) {
    const size_t winner = field[final_places(entrants_, rules).front().entrant];
    if (job_.options.time_limit_ns && job_.environment.now_ns() >= end_ns) {
        notes_.push_back("its time was not confirmed: there was no time left");
        return Outcome::bad;
    }
    const Result<Outcome> holds = confirm(winner, "its", end_ns);
    if (!holds || *holds == Outcome::somebody_left) return holds;
    for (int lucky = 0; lucky < most_lucky && job_.environment.now_ns() < end_ns; lucky++) {
        std::optional<size_t> fastest;
        for (size_t i = 0; i < contestants_.size(); i++) {
            const auto median = [&](size_t k) { return contestants_[k].time.median; };
            const bool is_ahead = median(i) < median(winner) / (1 + same_time) && contestants_[i].artifact;
            if (is_ahead && (!fastest || median(i) < median(*fastest))) fastest = i;
        }
        if (!fastest) break;
        const Result<Outcome> is_fast = confirm(*fastest, "a loser's", end_ns);
        if (!is_fast || *is_fast == Outcome::somebody_left) return is_fast;
        if (*is_fast == Outcome::good) return Outcome::bad;
    }
    return *holds;
}

Result<Race> WorkloadRace::record(const std::vector<size_t> &field) {
    Race race = race_under(same_conditions(job_, workload_), job_);
    race.confidence = ratio_confidence;
    race.conditions = to_json(RaceConditions{conditions_, turns_, notes_});
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
    return record(std::move(race));
}

Result<Race> WorkloadRace::record(Race race) {
    Result<std::string> id = job_.environment.store.append(race);
    if (!id) return id.error();
    race.id = *id;
    return race;
}

}  // namespace kiln
