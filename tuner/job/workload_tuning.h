// Tunes one workload: which algorithms apply, what is recorded already, default candidates first, then what the search
// proposes, until trials, time or space are used up; then the race. In steps, so that several workloads can take turns.
//
// Other processes may tune the same workload into the same database. Then each candidate is leased before it is begun,
// trials that others record count and teach the search as if they were ours, and the last ones are waited for.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/build/build_ahead.h"
#include "tuner/job/budget.h"
#include "tuner/job/candidate_judge.h"
#include "tuner/job/racing/workload_race.h"
#include "tuner/job/tune_job.h"
#include "tuner/job/tune_progress.h"
#include "tuner/process/leases.h"
#include "tuner/search/search.h"

namespace kiln {

class WorkloadTuning {
public:
    // `job`, `workload` and `listener` outlive this object. The listener is told everything but the job's own index,
    // count, fraction and time left.
    WorkloadTuning(const TuneJob &job, const NamedWorkload &workload, const TuneListener &listener);

    // Takes up what is recorded. A workload without an algorithm, or without a result, is finished. Errors, here and below: the
    // job cannot go on.
    Status begin();

    enum class End { more, finished, out_of_time, interrupted };
    // Makes up to so many trials. At `end_ns` of the job's clock nothing is begun any more that would go on after it.
    Result<End> make_trials(int64_t trials, std::optional<int64_t> end_ns);

    // How much its gains are worth from now on.
    void weigh(int64_t count, double odds);

    // The race, where it has any time, and what there is to say in the end.
    Result<End> finish(int64_t race_time_ns, End end);

    const LayerProgress &layer() const { return layer_; }
    const TunedWorkload &tuned() const { return tuned_; }

private:
    struct Proposed {
        Candidate candidate;
        std::string_view origin;
    };
    struct Started {
        Candidate candidate;
        std::string_view origin;
        Lease lease;  // until the trial is recorded
    };
    enum class Start {
        started,
        exhausted,  // everything was tried
        enough,     // of what is recorded and under way
    };

    Status take_up_recorded();
    Result<std::optional<RecordedTime>> recorded_time(const Trial &trial) const;
    Result<End> make_trial(std::optional<int64_t> end_ns);
    Result<Start> start_next(int64_t under_way);
    Result<End> start_when_others_are_done(std::optional<int64_t> end_ns);
    std::optional<Proposed> next_candidate();
    bool is_long_over(int64_t end_ns) const;
    std::string conditions() const;
    void count(const Trial &trial, const Candidate &candidate, const std::optional<RecordedTime> &time,
               const std::optional<Artifact> &artifact);
    void count_time(const Trial &trial, const Candidate &candidate, const RecordedTime &time,
                    const std::optional<Artifact> &artifact);
    bool count_again(const Trial &later, const Candidate &candidate, const std::optional<RecordedTime> &time);
    Status take_up(const WorkloadRace &race);
    void adopt(const Race &race);
    bool in_some_space(const Candidate &candidate) const;
    bool is_default(const Candidate &candidate) const { return candidate == spaces_.front().default_candidate(); }
    void describe_problem(End end);
    void tell(TuneProgress::Event event, const Trial *last = nullptr) const;

    const TuneJob &job_;
    const TuneListener &listener_;
    std::vector<Space> spaces_;
    std::unique_ptr<Search> search_;
    std::unique_ptr<CandidateJudge> judge_;
    BuildAhead builds_;
    WorkloadRace race_;
    std::optional<Started> started_;       // what is being built
    std::set<Candidate> tried_;            // or being tried, here or by another process
    std::set<Candidate> recorded_;         // under these conditions
    std::set<Candidate> failed_;           // of these, those that count as failures
    std::set<Candidate> refuted_;          // and those that were wrong or crashed, once
    std::set<std::string> seen_;           // ids of all recorded trials that were taken up
    std::optional<int64_t> others_state_;  // of the store when they were
    int64_t last_arrival_ = 0;             // there then
    bool others_hang_ = false;
    std::string last_failure_;
    TunedWorkload tuned_;
    LayerProgress layer_;
    int64_t spent_ns_ = 0;  // on new trials
    bool told_start_ = false;
};

}  // namespace kiln
