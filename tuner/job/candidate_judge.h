// Makes a candidate of one workload a recorded trial: checks that it belongs to its space, has it built, runs it, and appends
// the trial to the store. Of an identical object the time is reused that is in the store, and the verdict if it was made
// here: rows may come from elsewhere.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "records/measurement.h"
#include "schedules/candidate.h"
#include "tuner/job/racing/recorded_time.h"
#include "tuner/job/tune_job.h"
#include "tuner/measure/drift.h"

namespace kiln {

struct JudgedCandidate {
    Trial trial;
    std::optional<RecordedTime> time;  // in the runner's metric; exactly when the trial is ok
    std::optional<Artifact> artifact;  // when it was built
};

// A candidate to judge: who proposed it, and what builds it. `build` is called once, or not at all where the candidate
// is refused.
struct Proposal {
    Candidate candidate;
    std::string_view origin;
    std::function<Result<BuildResult>()> build;
    OutOfTime out_of_time = {};
};

class CandidateJudge {
public:
    CandidateJudge(const TuneJob &job, const Workload &workload, const std::vector<Trial> &recorded = {})
        : job_(job), workload_(workload) {
        for (const Trial &trial : recorded) remember(trial);
    }

    // Takes the time of a valid trial that was recorded before under the same conditions. The medians of those that were
    // taken in a like state of memory as the latest one say how fast a new candidate has to be.
    void learn(const RecordedTime &time) { times_.push_back(time); }

    // Takes a trial of this workload and target that is in the store. An object that it judged is not timed again; one that
    // also failed is judged anew each time.
    void remember(const Trial &trial);

    // Errors are the job's, not the candidate's: nothing was recorded.
    Result<JudgedCandidate> judge(const Proposal &proposal);

private:
    Status fill(const Proposal &proposal, JudgedCandidate *judged, std::optional<Measurement> *measurement);
    std::vector<double> comparable_medians() const;
    Result<RunResult> run_without_drift(const RunRequest &request);
    Status measure(RunRequest request, Trial *trial, std::optional<Measurement> *measurement);
    Status judge_again(const RunRequest &request, Trial *trial);
    Result<std::optional<Measurement>> known_measurement(const std::string &object_hash) const;

    const TuneJob &job_;
    const Workload &workload_;
    DriftDetector drift_;
    std::vector<RecordedTime> times_;  // of the workload's valid trials
    // By object hash: an ok trial that judged this very code on this workload.
    std::map<std::string, Trial, std::less<>> judged_;
    std::map<std::string, Trial, std::less<>> judged_here_;  // of these, what this process ran
    std::set<std::string, std::less<>> failed_;              // object hashes
};

}  // namespace kiln
