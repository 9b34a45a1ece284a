// Makes a candidate of one workload a recorded trial: checks that it belongs to its space, builds it, reuses what is
// known of an identical object or else runs it, and appends the trial to the store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedules/candidate.h"
#include "tuner/tune.h"

namespace kiln {

// What all workloads of a job share.
struct TuneJob {
    const Target &target;
    const TuneOptions &options;
    const TuneEnvironment &environment;
};

struct JudgedCandidate {
    Trial trial;
    std::optional<double> median_ns;  // exactly when the trial is ok
};

class CandidateJudge {
public:
    // `recorded`: every trial of this workload and target in the store, of whatever machine and toolchain.
    CandidateJudge(const TuneJob &job, const Workload &workload, const std::vector<Trial> &recorded);

    // Errors are the job's, not the candidate's: nothing was recorded.
    Result<JudgedCandidate> judge(const Candidate &candidate, std::string_view origin);

private:
    Status fill(const Candidate &candidate, Trial *trial, std::optional<Measurement> *measurement);
    Status run(const Artifact &artifact, Trial *trial, std::optional<Measurement> *measurement);
    Result<std::optional<Measurement>> known_measurement(const std::string &object_hash) const;
    void remember(const Trial &trial);

    const TuneJob &job_;
    const Workload &workload_;
    // By object hash: an ok trial that judged this very code on this workload.
    std::map<std::string, Trial, std::less<>> judged_;
};

}  // namespace kiln
