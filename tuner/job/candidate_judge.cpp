#include "tuner/job/candidate_judge.h"

#include <utility>

#include "catalog/catalog.h"
#include "tuner/job/racing/failed_trial.h"
#include "tuner/protocol/halving.h"

namespace kiln {
namespace {

// From a report, or from a trial that was made here.
template<typename Judged>
void take_verdict(const Judged &judged, Trial *trial) {
    trial->errors = judged.errors;
    trial->workspace_bytes = judged.workspace_bytes;
    trial->workspace_bytes_per_thread = judged.workspace_bytes_per_thread;
}

// The process that measures ends after 20 s.
constexpr int64_t first_time_patience_ns = 6'000'000'000;

}  // namespace

Result<JudgedCandidate> CandidateJudge::judge(const Proposal &proposal) {
    const TuneEnvironment &environment = job_.environment;
    JudgedCandidate judged;
    Trial &trial = judged.trial;
    trial.workload = key(workload_);
    trial.target = job_.target.halide;
    trial.threads = job_.target.threads;
    trial.machine = environment.runner.traits().machine;
    trial.toolchain = environment.builder.toolchain();
    trial.candidate = to_text(proposal.candidate);
    trial.origin = proposal.origin;
    trial.error_budget = job_.options.error_budget;
    trial.cache = job_.options.cache;
    std::optional<Measurement> measurement;
    if (Status s = fill(proposal, &judged, &measurement); !s) return s.error();
    trial.created_at = environment.timestamp();
    Result<std::string> id = environment.store.append(trial, measurement);
    if (!id) return id.error();
    trial.id = *id;
    remember(trial);
    if (trial.status == TrialStatus::ok) judged_here_.try_emplace(trial.object_hash, trial);
    if (measurement) {
        judged.time = recorded_time_of(*measurement);
        learn(*judged.time);
    }
    return judged;
}

Status CandidateJudge::fill(const Proposal &proposal, JudgedCandidate *judged,
                            std::optional<Measurement> *measurement) {
    Trial *trial = &judged->trial;
    if (Status s = check_candidate(proposal.candidate, workload_, job_.target); !s) {
        trial->status = TrialStatus::refused;
        trial->message = s.error().message;
        return {};
    }
    Result<BuildResult> built = proposal.build();
    if (!built) return built.error();
    trial->build_ns = built->wall_ns;
    if (!built->ok()) {
        record_failure(built->failure(), trial);
        return {};
    }
    judged->artifact = built->value();
    const Artifact &artifact = *judged->artifact;
    trial->object_hash = artifact.object_hash;
    trial->object_bytes = artifact.object_bytes;
    trial->packed_bytes = artifact.packed_bytes;

    RunRequest request;
    request.workload = workload_;
    request.target = job_.target;
    request.artifact = artifact;
    request.error_budget = job_.options.error_budget;
    request.cache = job_.options.cache;
    request.out_of_time = proposal.out_of_time;
    Result<std::optional<Measurement>> known = known_measurement(artifact.object_hash);
    if (!known) return known.error();
    if (!*known) return measure(std::move(request), trial, measurement);
    const auto twin = judged_here_.find(artifact.object_hash);
    if (twin != judged_here_.end() && !failed_.contains(artifact.object_hash)) {
        take_verdict(twin->second, trial);
    } else {
        request.measure = false;
        if (Status s = judge_again(request, trial); !s) return s;
    }
    if (trial->status == TrialStatus::ok) *measurement = **known;
    return {};
}

// A row may come from elsewhere, whatever it says of its machine. So what is recorded here of errors and memory was found
// here.
Status CandidateJudge::judge_again(const RunRequest &request, Trial *trial) {
    Result<RunResult> ran = job_.environment.runner.run(request);
    if (!ran) return ran.error();
    trial->run_ns = ran->wall_ns;
    if (ran->ok()) {
        take_verdict(ran->value(), trial);
    } else {
        record_failure(ran->failure(), trial);
    }
    return {};
}

// A kernel that was measured while the machine changed its speed is measured again.
Result<RunResult> CandidateJudge::run_without_drift(const RunRequest &request) {
    for (;;) {
        Result<RunResult> ran = job_.environment.runner.run(request);
        if (!ran || !ran->ok() || !drift_.drifted(ran->value().sentinel)) return ran;
    }
}

Status CandidateJudge::measure(RunRequest request, Trial *trial, std::optional<Measurement> *measurement) {
    const TuneEnvironment &environment = job_.environment;
    const RunnerTraits &traits = environment.runner.traits();
    if (traits.metric == Metric::ns) request.cutoffs_ns = halving_cutoffs(comparable_medians());
    // Until there is one time, a busy machine would leave the workload without an answer.
    if (traits.is_noisy && times_.empty()) request.patience_ns = first_time_patience_ns;
    Result<RunResult> ran = run_without_drift(request);
    if (!ran) return ran.error();
    trial->run_ns = ran->wall_ns;
    if (!ran->ok()) {
        record_failure(ran->failure(), trial);
        return {};
    }
    const RunReport &report = ran->value();
    take_verdict(report, trial);
    *measurement = measurement_of(report, *trial, traits.metric);
    (*measurement)->created_at = environment.timestamp();
    return {};
}

std::vector<double> CandidateJudge::comparable_medians() const {
    std::vector<double> medians;
    for (const RecordedTime &time : times_) {
        const auto &latest = times_.back().memory;
        if (!latest || !time.memory || is_like(*latest, *time.memory)) medians.push_back(time.median);
    }
    return medians;
}

// Code that was judged on this workload and timed on this machine is not timed again. A trial judged against a wider budget
// counts only where its errors are within ours.
Result<std::optional<Measurement>> CandidateJudge::known_measurement(const std::string &object_hash) const {
    const auto judged = judged_.find(object_hash);
    if (judged == judged_.end() || !judged->second.errors.max) return std::optional<Measurement>();
    if (!judged->second.errors.within(job_.options.error_budget)) return std::optional<Measurement>();
    const RunnerTraits &traits = job_.environment.runner.traits();
    return job_.environment.store.measurement(object_hash, traits.machine, job_.target.threads, job_.options.cache,
                                              traits.metric);
}

void CandidateJudge::remember(const Trial &trial) {
    if (trial.object_hash.empty()) return;
    if (trial.status == TrialStatus::ok) judged_.try_emplace(trial.object_hash, trial);
    if (trial.status == TrialStatus::wrong_result || trial.status == TrialStatus::crash) {
        failed_.insert(trial.object_hash);
    }
}

}  // namespace kiln
