// Races the kernels of one workload that single measurements cannot tell apart, and records the race, whose winner is
// then the one to use. Which kernels, how long and who wins is decided by race_field.h and race_rules.h.
//
// Where the workload's data lies in caches and memory that others use too, recorded times say less: the field is known by
// turns (qualified_field.h), and the winner's time must hold in a fresh process (time_confirmation.h). If it does not, it is
// replaced and the race is held again, at most three times in all.
//
// Counts of a model have no noise. Where somebody can check them, the finalists run there once (finals.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "records/race_conditions.h"
#include "tuner/job/racing/contestant.h"
#include "tuner/job/racing/qualified_field.h"
#include "tuner/job/racing/race_heats.h"
#include "tuner/job/racing/time_confirmation.h"
#include "tuner/job/tune_job.h"
#include "tuner/race/race_field.h"
#include "tuner/race/race_rules.h"

namespace kiln {

class WorkloadRace {
public:
    WorkloadRace(const TuneJob &job, const Workload &workload)
        : job_(job), workload_(workload), heats_(job, workload), confirmation_(job, workload) {}

    // A valid trial under the job's conditions. Without an artifact it is built again, if it comes to a race.
    void enter(const Trial &trial, const RecordedTime &time, bool is_default, const std::optional<Artifact> &artifact);

    // A later trial of a candidate: its kernel was measured again, or failed. Answers whether the candidate is in the race.
    bool renew(const Trial &later, const RecordedTime &time);
    void leave(const Trial &later);

    // The best trial so far races too, though the job may not have asked for its algorithm: what wins here is the best
    // from then on. A kernel that fails on the way is recorded as a trial that failed, and leaves. Nothing: the runner's times are exact and nobody judges finalists, there is nothing to race, the very same trials were raced
    // before, or `time_ns` does not suffice. Takes longer than `time_ns` where three heats do, and where a time must be
    // confirmed and the job's time is not limited. Errors: the job cannot go on.
    Result<std::optional<Race>> run(int64_t time_ns);

    // The fastest trial of those that were entered. At most one trial that raced was not entered.
    struct Winner {
        std::string candidate;
        double median_ns;
        // The default's time beside the winner's, from the race's ratio, or from the turns before it. Medians of trials
        // were measured at different moments, so a default that lost may have the smaller one: it is told only where
        // both took no turns together. Nothing where the job has no default.
        std::optional<double> default_ns;
    };
    Winner winner(const Race &race) const;
    // Of those that were entered and did not leave: the winner of the last race, if that decides which trial is the best, else the fastest.
    // Of counts it is the lowest.
    Result<std::optional<Winner>> best_recorded() const;

    // What people should know: which times did not hold, which kernels failed.
    const std::vector<std::string> &notes() const { return notes_; }
    int64_t failures() const { return failures_; }  // trials that the last run recorded

private:
    std::optional<Winner> fastest_recorded() const;
    std::optional<double> turn_of(const Contestant &contestant) const;
    Status enter_best();
    Status look_up_races();
    bool were_all_raced(const std::vector<size_t> &field) const;
    std::vector<size_t> field_by_records() const;
    // somebody_left: a kernel failed, so that the field is another one.
    enum class Outcome { good, bad, somebody_left };
    Result<Outcome> field_by_turns(int64_t time_ns, std::vector<size_t> *field);
    Result<std::optional<Race>> race_by_records(int64_t time_ns);
    Result<std::optional<Race>> race_by_turns(int64_t time_ns);
    Result<std::optional<Race>> hold_finals();
    Result<Outcome> hold(const std::vector<size_t> &field, int64_t time_ns);
    Result<Outcome> is_confirmed(const std::vector<size_t> &field, int64_t end_ns);
    Result<Outcome> confirm(size_t contestant, const char *whose, int64_t end_ns);
    Result<Outcome> leave_out_failed(const FailedHeat &heat);
    Status leave_out(size_t contestant, const Failure &failure);
    Result<Race> record(const std::vector<size_t> &field);
    Result<Race> record(Race race);
    bool has_time(const std::vector<size_t> &field, int64_t time_ns) const;

    const TuneJob &job_;
    const Workload &workload_;
    RaceHeats heats_;
    TimeConfirmation confirmation_;
    std::vector<Contestant> contestants_;
    std::vector<Entrant> entrants_;        // of the race, by place in the field
    std::vector<std::string> conditions_;  // by heat, JSON
    std::vector<QualifyingTurn> turns_;
    std::vector<std::string> notes_;
    int64_t failures_ = 0;
    std::string incumbent_;           // id of the last race's winner
    std::vector<std::string> raced_;  // ids of those who were in the last race, or had turns before it
};

}  // namespace kiln
