#include "tuner/job/workload_tuning.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "tuner/build/killed_build.h"
#include "tuner/job/candidate_choice.h"
#include "tuner/job/searched_spaces.h"
#include "tuner/search/search.h"
#include "workload/signature.h"

namespace kiln {
namespace {

Observation observation(const Candidate &candidate, const std::optional<RecordedTime> &time) {
    return {candidate, time ? std::optional(time->quiet) : std::nullopt};
}

// A seed of its own for each workload, so that what one proposes does not depend on which others are tuned with it.
uint64_t seed_of(const Workload &workload, uint64_t seed) {
    const std::string text = key(workload);
    return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// Whether such a trial says of the kernel that it is not to be used, whatever another one says. Others, such as `unstable`
// and `timeout`, may be the machine's fault.
bool refutes(TrialStatus status) { return status == TrialStatus::wrong_result || status == TrialStatus::crash; }

}  // namespace

WorkloadTuning::WorkloadTuning(const TuneJob &job, const NamedWorkload &workload, const TuneListener &listener)
    : job_(job),
      listener_(listener),
      builds_(job.environment.builder, job.environment.builds_ahead),
      race_(job, tuned_.workload.workload) {
    tuned_.workload = workload;
    weigh(workload.count, workload.odds);
}

void WorkloadTuning::weigh(int64_t count, double odds) {
    layer_.count = tuned_.workload.count = count;
    layer_.odds = tuned_.workload.odds = odds;
}

Status WorkloadTuning::begin() {
    tuned_.is_empty = has_empty_result(tuned_.workload.workload);
    if (tuned_.is_empty) {
        tuned_.problem = empty_result_text;
        layer_.finished = true;
        return {};
    }
    Result<std::vector<Space>> spaces = searched_spaces(job_, tuned_.workload.workload);
    if (!spaces) {
        tuned_.problem = spaces.error().message;
        layer_.finished = true;
        return {};
    }
    spaces_ = std::move(*spaces);
    Result<std::unique_ptr<Search>> search =
        make_search(job_.options.strategy, spaces_, seed_of(tuned_.workload.workload, job_.options.seed));
    if (!search) return search.error();
    search_ = std::move(*search);
    judge_ = std::make_unique<CandidateJudge>(job_, tuned_.workload.workload);
    return take_up_recorded();
}

// Trials that were made under the same conditions count and teach the search; of all others, only what they say of
// identical objects is used. The first time that is what earlier jobs recorded, then what others did meanwhile.
Status WorkloadTuning::take_up_recorded() {
    const TuneEnvironment &environment = job_.environment;
    const Result<int64_t> state = environment.store.state_of_others();
    if (!state) return state.error();
    if (others_state_ == *state) return {};
    const bool is_first = !std::exchange(others_state_, *state);
    TrialFilter filter;
    filter.workload = key(tuned_.workload.workload);
    filter.target = job_.target.halide;
    filter.threads = job_.target.threads;
    const Result<int64_t> last_arrival = environment.store.last_arrival();
    if (!last_arrival) return last_arrival.error();
    Result<std::vector<Trial>> recorded = environment.store.trials(filter, last_arrival_);
    if (!recorded) return recorded.error();
    last_arrival_ = *last_arrival;  // what came in between is read again

    struct Recorded {
        const Trial &trial;
        Candidate candidate;
        std::optional<RecordedTime> time;
    };
    std::vector<Recorded> comparable;
    bool any_valid = false;
    const RunnerTraits &traits = environment.runner.traits();
    for (const Trial &trial : *recorded) {
        if (!seen_.insert(trial.id).second) continue;
        judge_->remember(trial);
        if (trial.machine != traits.machine || trial.toolchain != environment.builder.toolchain() ||
            trial.cache != job_.options.cache || trial.error_budget != job_.options.error_budget) {
            continue;
        }
        Result<Candidate> candidate = parse_candidate(trial.candidate);
        // Another version's, or of an algorithm that was not asked for: neither counts nor can be proposed again.
        if (!candidate || !in_some_space(*candidate)) continue;
        Result<std::optional<RecordedTime>> time = recorded_time(trial);
        if (!time) return time.error();
        any_valid |= time->has_value();
        comparable.push_back({trial, std::move(*candidate), *time});
    }
    std::vector<Observation> observations;
    for (const Recorded &r : comparable) {
        // Unstable says more about the machine at that time than about the candidate. Where nothing else is known, a
        // rerun tries again: else a layer that was tuned at a busy moment could never be repaired.
        if (is_first && !any_valid && r.trial.status == TrialStatus::unstable) continue;
        if (is_killed_build(r.trial)) continue;  // it says nothing of the candidate
        if (recorded_.insert(r.candidate).second) {
            tried_.insert(r.candidate);
            count(r.trial, r.candidate, r.time, std::nullopt);
        } else if (!count_again(r.trial, r.candidate, r.time)) {
            continue;
        }
        if (r.time) judge_->learn(*r.time);
        observations.push_back(observation(r.candidate, r.time));
    }
    search_->observe(observations);
    return {};
}

Result<std::optional<RecordedTime>> WorkloadTuning::recorded_time(const Trial &trial) const {
    if (trial.status != TrialStatus::ok) return std::optional<RecordedTime>();
    Result<std::optional<Measurement>> measurement = job_.environment.store.measurement(
        trial.object_hash, trial.machine, trial.threads, trial.cache, job_.environment.runner.traits().metric);
    if (!measurement) return measurement.error();
    return *measurement ? std::optional(recorded_time_of(**measurement)) : std::nullopt;
}

Result<WorkloadTuning::End> WorkloadTuning::make_trials(int64_t trials, std::optional<int64_t> end_ns) {
    if (!told_start_) tell(TuneProgress::Event::workload_started);
    told_start_ = true;
    if (layer_.finished) return End::finished;
    for (int64_t i = 0; i < trials; i++) {
        if (job_.environment.interrupted()) return End::interrupted;
        layer_.finished = tuned_.trials >= job_.options.trials;
        if (layer_.finished) return End::finished;
        const auto usual_ns = tuned_.new_trials > 0 ? spent_ns_ / tuned_.new_trials : 0;
        if (end_ns && job_.environment.now_ns() + usual_ns >= *end_ns) return End::out_of_time;
        Result<End> end = make_trial(end_ns);
        if (!end || *end != End::more) return end;
    }
    return End::more;
}

Result<WorkloadTuning::End> WorkloadTuning::make_trial(std::optional<int64_t> end_ns) {
    const int64_t start_ns = job_.environment.now_ns();
    if (!started_) {
        Result<End> started = start_when_others_are_done(end_ns);
        if (!started || *started != End::more) return started;
    }
    const Started current = std::move(*started_);
    started_.reset();
    const auto build = [&]() -> Result<BuildResult> {
        Result<BuildResult> built = builds_.take();
        // The next one is built while this one is measured.
        if (!built || !builds_.is_ahead()) return built;
        if (Result<Start> started = start_next(1); !started) return started.error();
        return built;
    };
    const auto out_of_time = [&] { return end_ns && is_long_over(*end_ns); };
    Result<JudgedCandidate> judged = judge_->judge({current.candidate, current.origin, build, out_of_time});
    if (!judged) {
        if (judged.error().code != ErrorCode::interrupted) return judged.error();
        return out_of_time() && !job_.environment.interrupted() ? End::out_of_time : End::interrupted;
    }
    seen_.insert(judged->trial.id);
    recorded_.insert(current.candidate);
    tuned_.new_trials++;
    tuned_.new_failures += judged->trial.status != TrialStatus::ok;
    spent_ns_ += job_.environment.now_ns() - start_ns;
    layer_.seconds_per_trial = static_cast<double>(spent_ns_) * 1e-9 / static_cast<double>(tuned_.new_trials);
    count(judged->trial, current.candidate, judged->time, judged->artifact);
    const Observation observed = observation(current.candidate, judged->time);
    if (!is_killed_build(judged->trial)) search_->observe({&observed, 1});
    tell(TuneProgress::Event::trial_recorded, &judged->trial);
    return End::more;
}

// A trial that has begun may take a tenth of the job's time more.
bool WorkloadTuning::is_long_over(int64_t end_ns) const {
    return job_.environment.now_ns() >= end_ns + job_.options.time_limit_ns.value_or(0) / 10;
}

// Two processes share a trial where all of this is equal.
std::string WorkloadTuning::conditions() const {
    return fmt::format("{} {} {} {} {} {}", key(tuned_.workload.workload), to_text(job_.target),
                       job_.environment.runner.traits().machine, job_.environment.builder.toolchain(),
                       name(job_.options.cache), job_.options.error_budget);
}

// `under_way`: of our own trials, those that are not recorded yet.
Result<WorkloadTuning::Start> WorkloadTuning::start_next(int64_t under_way) {
    const Leases &leases = job_.environment.leases;
    const std::string group = conditions();
    const auto turn = leases.turn(group);
    for (;;) {
        // In this order: a trial that is recorded in between is counted twice rather than not at all.
        const int64_t elsewhere = others_hang_ ? 0 : leases.held_by_others(group);
        if (Status s = take_up_recorded(); !s) return s.error();
        if (tuned_.trials + under_way + elsewhere >= job_.options.trials) return Start::enough;
        auto next = next_candidate();
        if (!next) return Start::exhausted;
        auto &[candidate, origin] = *next;
        tried_.insert(candidate);
        std::optional<Lease> lease = leases.try_take(group, to_text(candidate));
        if (!lease) continue;  // another process is at it
        // Or was until a moment ago: what it recorded was there before its lease was free.
        if (Status s = take_up_recorded(); !s) return s.error();
        if (recorded_.contains(candidate)) continue;
        builds_.start({tuned_.workload.workload, job_.target, candidate});
        started_.emplace(Started{std::move(candidate), origin, std::move(*lease)});
        return Start::started;
    }
}

// Waits for the trials that other processes are at, where those would be enough. A trial that does not come is made
// here.
Result<WorkloadTuning::End> WorkloadTuning::start_when_others_are_done(std::optional<int64_t> end_ns) {
    constexpr int64_t patience_ns = 180'000'000'000;  // longer than a build and a measurement may take
    constexpr int64_t silence_ns = 2'000'000'000;
    bool told = false;
    int64_t waiting_since_ns = job_.environment.now_ns(), trials_then = tuned_.trials;
    for (;;) {
        Result<Start> start = start_next(0);
        if (!start) return start.error();
        if (*start == Start::started) return End::more;
        // Where workloads take turns, the time is better spent on another workload.
        layer_.finished = *start == Start::exhausted || tuned_.trials >= job_.options.trials || end_ns;
        if (layer_.finished) return End::finished;
        if (job_.environment.interrupted()) return End::interrupted;
        const int64_t now_ns = job_.environment.now_ns();
        if (tuned_.trials != std::exchange(trials_then, tuned_.trials)) waiting_since_ns = now_ns;
        others_hang_ = now_ns - waiting_since_ns >= patience_ns;
        if (!told && now_ns - waiting_since_ns >= silence_ns) {
            told = true;
            tell(TuneProgress::Event::waiting_for_others);
        }
        job_.environment.leases.wait();
    }
}

// The default of each algorithm, most preferred first; then the search. Nothing when everything was tried.
std::optional<WorkloadTuning::Proposed> WorkloadTuning::next_candidate() {
    for (const Space &space : spaces_) {
        if (!tried_.contains(space.default_candidate())) return Proposed{space.default_candidate(), "default"};
    }
    for (;;) {
        std::optional<Candidate> proposal = search_->propose();
        if (!proposal) return std::nullopt;
        // The search does not know of candidates that are still being built, here or elsewhere.
        if (!tried_.contains(*proposal)) return Proposed{std::move(*proposal), job_.options.strategy};
    }
}

Result<WorkloadTuning::End> WorkloadTuning::finish(int64_t race_time_ns, End end) {
    started_.reset();  // nobody has to wait for what is not judged any more
    const bool judges_finalists = job_.environment.runner.traits().judges_finalists;
    // One process races; where another is at it, or was, there is nothing left to race.
    const std::optional<Lease> lease = job_.environment.leases.try_take("race of " + conditions(), "race");
    if (lease && search_ && end != End::interrupted && (race_time_ns > 0 || judges_finalists)) {
        if (Status s = take_up_recorded(); !s) return s.error();
        Result<std::optional<Race>> race = race_.run(race_time_ns);
        if (!race && race.error().code != ErrorCode::interrupted) return race.error();
        if (Status s = take_up(race_); !s) return s.error();
        if (race && *race) adopt(**race);
        if (!race)
            end = job_.options.time_limit_ns && !job_.environment.interrupted() ? End::out_of_time : End::interrupted;
    } else if (end != End::interrupted) {
        if (Status s = take_up(race_); !s) return s.error();
    }
    if (!told_start_) tell(TuneProgress::Event::workload_started);
    describe_problem(end);
    tell(TuneProgress::Event::workload_finished);
    return end;
}

// Kernels that failed on the way to a race are none of the job's any more.
Status WorkloadTuning::take_up(const WorkloadRace &race) {
    tuned_.failures += race.failures();
    tuned_.new_failures += race.failures();
    const Result<std::optional<WorkloadRace::Winner>> recorded = race.best_recorded();
    if (!recorded) return recorded.error();
    const std::optional<WorkloadRace::Winner> &best = *recorded;
    tuned_.best_ns = best ? std::optional(best->median_ns) : std::nullopt;
    tuned_.best_candidate = best ? best->candidate : std::string();
    tuned_.default_ns = best ? best->default_ns : std::nullopt;
    if (race.notes().empty()) return {};
    last_failure_ = race.notes().back();
    tuned_.race.emplace().notes = race.notes();
    return {};
}

// The fastest of the job's own trials is its best, whatever single measurements said before.
void WorkloadTuning::adopt(const Race &race) {
    const WorkloadRace::Winner winner = race_.winner(race);
    tuned_.best_candidate = winner.candidate;
    tuned_.best_ns = winner.median_ns;
    // Medians of a model have no noise: the default's is as good as the winner's.
    const bool judged = job_.environment.runner.traits().judges_finalists;
    if (winner.default_ns && !judged) tuned_.default_ns = winner.default_ns;
    tuned_.race.emplace().entries = race.entries.size();
    tuned_.race->notes = race_.notes();
    if (judged) tuned_.race->judged = race.entries.front().samples.front();
    for (size_t i = 1; i < race.entries.size(); i++) tuned_.race->ties += race.entries[i].ratio_lo <= 1;
}

void WorkloadTuning::count(const Trial &trial, const Candidate &candidate, const std::optional<RecordedTime> &time,
                           const std::optional<Artifact> &artifact) {
    tuned_.trials++;
    layer_.trials = tuned_.trials;
    if (trial.status != TrialStatus::ok) {
        tuned_.failures++;
        failed_.insert(candidate);
        last_failure_ = fmt::format("{}: {}", name(trial.status), trial.message);
    }
    if (refutes(trial.status)) refuted_.insert(candidate);
    if (time) count_time(trial, candidate, *time, artifact);
}

// A later trial of a candidate is no further one. Its time did not hold in a race, or the kernel failed there: the later one counts. Or
// an earlier one failed for what the machine did: then the candidate is in the race from now on, which is the answer.
bool WorkloadTuning::count_again(const Trial &later, const Candidate &candidate,
                                 const std::optional<RecordedTime> &time) {
    if (refutes(later.status)) refuted_.insert(candidate);
    if (!time) {
        race_.leave(later);
        return false;
    }
    if (race_.renew(later, *time) || refuted_.contains(candidate)) return false;
    tuned_.failures -= static_cast<int64_t>(failed_.erase(candidate));
    count_time(later, candidate, *time, std::nullopt);
    return true;
}

void WorkloadTuning::count_time(const Trial &trial, const Candidate &candidate, const RecordedTime &time,
                                const std::optional<Artifact> &artifact) {
    race_.enter(trial, time, is_default(candidate), artifact);
    if (is_default(candidate)) tuned_.default_ns = time.median;
    // Of two that are equal, the one that all processes take, in whichever order they hear of them.
    const auto is_better = [&] {
        return std::tie(time.median, trial.candidate) < std::tie(*tuned_.best_ns, tuned_.best_candidate);
    };
    if (!tuned_.best_ns || is_better()) {
        tuned_.best_ns = time.median;
        tuned_.best_candidate = trial.candidate;
    }
    layer_.best_ns.push_back(*tuned_.best_ns);
}

bool WorkloadTuning::in_some_space(const Candidate &c) const {
    return std::any_of(spaces_.begin(), spaces_.end(), [&](const Space &space) {
        const Candidate &base = space.default_candidate();
        return c.algorithm == base.algorithm && c.algorithm_version == base.algorithm_version &&
               c.schedule == base.schedule && c.schedule_version == base.schedule_version;
    });
}

void WorkloadTuning::describe_problem(End end) {
    if (tuned_.best_ns || !tuned_.problem.empty()) return;
    if (tuned_.trials > 0) {
        tuned_.problem =
            fmt::format("none of {} trials is valid; the last one failed with {}", tuned_.trials, last_failure_);
    } else if (end == End::out_of_time) {
        tuned_.problem = "the time limit came before the first trial";
    } else if (end == End::interrupted) {
        tuned_.problem = "interrupted before the first trial";
    } else {
        tuned_.problem = "no trial was asked for";
    }
}

void WorkloadTuning::tell(TuneProgress::Event event, const Trial *last) const {
    if (!listener_) return;
    TuneProgress progress;
    progress.event = event;
    progress.workload = &tuned_.workload;
    progress.trials_done = tuned_.trials;
    progress.trials_wanted = job_.options.trials;
    progress.failures = tuned_.failures;
    progress.fraction =
        static_cast<double>(tuned_.trials) / static_cast<double>(std::max<int64_t>(1, job_.options.trials));
    progress.fraction = std::min(1.0, progress.fraction);
    progress.race = tuned_.race;
    progress.metric = job_.environment.runner.traits().metric;
    progress.best_ns = tuned_.best_ns;
    progress.default_ns = tuned_.default_ns;
    progress.best_candidate = tuned_.best_candidate;
    progress.problem = tuned_.problem;
    progress.is_empty = tuned_.is_empty;
    progress.last = last;
    listener_(progress);
}

}  // namespace kiln
