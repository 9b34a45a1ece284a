#include "tuner/workload_tuning.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "generators/catalog.h"
#include "tuner/candidate_choice.h"
#include "tuner/search.h"

namespace kiln {
namespace {

// A seed of its own for each workload, so that what one proposes does not depend on which others are tuned with it.
uint64_t seed_of(const Workload &workload, uint64_t seed) {
    const std::string text = key(workload);
    return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

// The spaces of every algorithm that the options allow and that applies, the one to use untuned first. Without
// any, the error says why each was refused.
Result<std::vector<Space>> spaces_of(const TuneJob &job, const Workload &workload) {
    const TuneOptions &options = job.options;
    std::vector<Space> spaces;
    Refusals refusals;
    for (const Algorithm *algorithm : by_preference(workload, job.target)) {
        std::string reason;
        if (!is_asked_for(*algorithm, options.algorithm)) {
            reason = "not asked for";
        } else if (!options.without.empty() && glob_match(options.without, algorithm->name)) {
            reason = "excluded";
        } else if (Status s = algorithm->applies(workload, job.target); !s) {
            reason = s.error().message;
        } else {
            spaces.push_back(algorithm->space(workload, job.target, job.environment.machine));
            continue;
        }
        refusals.add(algorithm->name, reason);
    }
    if (spaces.empty()) return unsupported("no algorithm applies (" + refusals.text() + ")");
    return spaces;
}

class WorkloadTuning {
public:
    WorkloadTuning(const TuneJob &job, const NamedWorkload &workload, std::optional<TimeShare> time_share,
                   const TuneListener &listener)
        : job_(job), time_share_(time_share), listener_(listener) {
        tuned_.workload = workload;
    }

    Result<WorkloadOutcome> tune();

private:
    using End = WorkloadOutcome::End;

    Status take_up_recorded();
    Result<std::optional<double>> recorded_median_ns(const Trial &trial) const;
    Result<End> make_trials();
    Result<std::optional<Candidate>> next_candidate(std::string_view *origin);
    std::optional<End> must_end() const;
    void count(const Trial &trial, const Candidate &candidate, std::optional<double> median_ns);
    bool in_some_space(const Candidate &candidate) const;
    void describe_problem(End end);
    void tell(TuneProgress::Event event, const Trial *last = nullptr) const;

    const TuneJob &job_;
    std::optional<TimeShare> time_share_;
    const TuneListener &listener_;
    std::vector<Space> spaces_;
    std::unique_ptr<Search> search_;
    std::unique_ptr<CandidateJudge> judge_;
    std::set<Candidate> tried_;
    std::string last_failure_;
    TunedWorkload tuned_;
};

Result<WorkloadOutcome> WorkloadTuning::tune() {
    Result<std::vector<Space>> spaces = spaces_of(job_, tuned_.workload.workload);
    if (!spaces) {
        tuned_.problem = spaces.error().message;
        tell(TuneProgress::Event::workload_started);
        tell(TuneProgress::Event::workload_finished);
        return WorkloadOutcome{tuned_};
    }
    spaces_ = std::move(*spaces);
    Result<std::unique_ptr<Search>> search =
        make_search(job_.options.strategy, spaces_, seed_of(tuned_.workload.workload, job_.options.seed));
    if (!search) return search.error();
    search_ = std::move(*search);
    if (Status s = take_up_recorded(); !s) return s.error();
    tell(TuneProgress::Event::workload_started);
    Result<End> end = make_trials();
    if (!end) return end.error();
    describe_problem(*end);
    tell(TuneProgress::Event::workload_finished);
    return WorkloadOutcome{tuned_, *end};
}

// Trials that were made under the same conditions count and teach the search; of all others, only what they say of
// identical objects is used.
Status WorkloadTuning::take_up_recorded() {
    const TuneEnvironment &environment = job_.environment;
    TrialFilter filter;
    filter.workload = key(tuned_.workload.workload);
    filter.target = job_.target.halide;
    filter.threads = job_.target.threads;
    Result<std::vector<Trial>> recorded = environment.store.trials(filter);
    if (!recorded) return recorded.error();
    judge_ = std::make_unique<CandidateJudge>(job_, tuned_.workload.workload, *recorded);

    struct Recorded {
        const Trial &trial;
        Candidate candidate;
        std::optional<double> median_ns;
    };
    std::vector<Recorded> comparable;
    bool any_valid = false;
    const std::string machine = key(environment.machine);
    for (const Trial &trial : *recorded) {
        if (trial.machine != machine || trial.toolchain != environment.builder.toolchain() ||
            trial.cache != job_.options.cache || trial.error_budget != job_.options.error_budget) {
            continue;
        }
        Result<Candidate> candidate = parse_candidate(trial.candidate);
        // Another version's, or of an algorithm that was not asked for: neither counts nor can be proposed again.
        if (!candidate || !in_some_space(*candidate)) continue;
        Result<std::optional<double>> median = recorded_median_ns(trial);
        if (!median) return median.error();
        any_valid |= median->has_value();
        comparable.push_back({trial, std::move(*candidate), *median});
    }
    std::vector<Observation> observations;
    for (const Recorded &r : comparable) {
        // Unstable says more about the machine at that time than about the candidate. Where nothing else is known, a
        // rerun tries again: else a layer that was tuned at a busy moment could never be repaired.
        if (!any_valid && r.trial.status == TrialStatus::unstable) continue;
        if (!tried_.insert(r.candidate).second) continue;
        count(r.trial, r.candidate, r.median_ns);
        observations.push_back({r.candidate, r.median_ns});
    }
    search_->observe(observations);
    return {};
}

Result<std::optional<double>> WorkloadTuning::recorded_median_ns(const Trial &trial) const {
    if (trial.status != TrialStatus::ok) return std::optional<double>();
    Result<std::optional<Measurement>> measurement =
        job_.environment.store.measurement(trial.object_hash, trial.machine, trial.threads, trial.cache, Metric::ns);
    if (!measurement) return measurement.error();
    return *measurement ? std::optional((*measurement)->median) : std::nullopt;
}

// One candidate at a time: building the next one meanwhile would disturb the measurement.
Result<WorkloadOutcome::End> WorkloadTuning::make_trials() {
    for (;;) {
        if (const auto end = must_end()) return *end;
        std::string_view origin;
        Result<std::optional<Candidate>> candidate = next_candidate(&origin);
        if (!candidate) return candidate.error();
        if (!*candidate) return End::finished;
        Result<JudgedCandidate> judged = judge_->judge(**candidate, origin);
        if (!judged) {
            if (judged.error().code == ErrorCode::interrupted) return End::interrupted;
            return judged.error();
        }
        tried_.insert(**candidate);
        tuned_.new_trials++;
        count(judged->trial, **candidate, judged->median_ns);
        const Observation observation{**candidate, judged->median_ns};
        search_->observe({&observation, 1});
        tell(TuneProgress::Event::trial_recorded, &judged->trial);
    }
}

// The default of each algorithm, most preferred first; then the search. Nothing when everything was tried.
Result<std::optional<Candidate>> WorkloadTuning::next_candidate(std::string_view *origin) {
    for (const Space &space : spaces_) {
        if (tried_.contains(space.default_candidate())) continue;
        *origin = "default";
        return std::optional(space.default_candidate());
    }
    *origin = job_.options.strategy;
    std::vector<Candidate> proposals = search_->propose(1);
    if (proposals.empty()) return std::optional<Candidate>();
    return std::optional(std::move(proposals.front()));
}

std::optional<WorkloadOutcome::End> WorkloadTuning::must_end() const {
    if (job_.environment.interrupted()) return End::interrupted;
    if (tuned_.trials >= job_.options.trials) return End::finished;
    if (time_share_ && job_.environment.now_ns() >= time_share_->end_ns) return End::out_of_time;
    return std::nullopt;
}

void WorkloadTuning::count(const Trial &trial, const Candidate &candidate, std::optional<double> median_ns) {
    tuned_.trials++;
    if (trial.status != TrialStatus::ok) {
        tuned_.failures++;
        last_failure_ = fmt::format("{}: {}", name(trial.status), trial.message);
    }
    if (!median_ns) return;
    if (candidate == spaces_.front().default_candidate()) tuned_.default_ns = median_ns;
    if (!tuned_.best_ns || *median_ns < *tuned_.best_ns) {
        tuned_.best_ns = median_ns;
        tuned_.best_candidate = trial.candidate;
    }
}

bool WorkloadTuning::in_some_space(const Candidate &c) const {
    return std::any_of(spaces_.begin(), spaces_.end(), [&](const Space &space) {
        const Candidate &base = space.default_candidate();
        return c.algorithm == base.algorithm && c.algorithm_version == base.algorithm_version &&
               c.schedule == base.schedule && c.schedule_version == base.schedule_version;
    });
}

void WorkloadTuning::describe_problem(End end) {
    if (tuned_.best_ns) return;
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
    if (time_share_ && time_share_->end_ns > time_share_->start_ns) {
        const double spent = static_cast<double>(job_.environment.now_ns() - time_share_->start_ns);
        progress.fraction =
            std::max(progress.fraction, spent / static_cast<double>(time_share_->end_ns - time_share_->start_ns));
    }
    progress.fraction = std::min(1.0, progress.fraction);
    progress.best_ns = tuned_.best_ns;
    progress.default_ns = tuned_.default_ns;
    progress.best_candidate = tuned_.best_candidate;
    progress.problem = tuned_.problem;
    progress.last = last;
    listener_(progress);
}

}  // namespace

Result<WorkloadOutcome> tune_workload(const TuneJob &job, const NamedWorkload &workload,
                                      std::optional<TimeShare> time_share, const TuneListener &listener) {
    return WorkloadTuning(job, workload, time_share, listener).tune();
}

}  // namespace kiln
