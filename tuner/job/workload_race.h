// Races the kernels of one workload that single measurements cannot tell apart, and records the race, whose winner is
// then the one to use. Which kernels, how long and who wins is decided by race_field.h and race_rules.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/job/candidate_judge.h"
#include "tuner/race/race_field.h"
#include "tuner/race/race_rules.h"

namespace kiln {

class WorkloadRace {
public:
    WorkloadRace(const TuneJob &job, const Workload &workload) : job_(job), workload_(workload) {}

    // A valid trial under the job's conditions. Without an artifact it is built again, if it comes to a race.
    void enter(const Trial &trial, const Summary &time, bool is_default, const std::optional<Artifact> &artifact);

    // The best trial so far races too, though the job may not have asked for its algorithm: what wins here is the best
    // from then on. Nothing: the runner's times are exact, there is nothing to race, the very same trials were raced
    // before, or `time_ns` does not suffice. Takes longer than `time_ns` only where two heats do. Errors: the job
    // cannot go on.
    Result<std::optional<Race>> run(int64_t time_ns);

    // The fastest trial of those that were entered. At most one trial that raced was not entered.
    struct Winner {
        std::string candidate;
        double median_ns;
        // The default's time beside the winner's, from the race's ratio; nothing where the default did not race.
        // Medians of trials were measured at different moments, so a default that lost the race may have the smaller
        // one.
        std::optional<double> default_ns;
    };
    Winner winner(const Race &race) const;

private:
    struct Contestant {
        Trial trial;
        Summary time;  // in ns
        bool is_default;
        std::optional<Artifact> artifact;
        bool is_entered = true;  // by the job; else the best so far, of an algorithm that was not asked for
    };

    struct Heat {
        const std::vector<size_t> &racing;  // of the field
        int rounds;
        uint64_t seed;
        int64_t time_ns;  // of all heats
    };

    Status enter_best();
    Result<std::vector<size_t>> choose_field();
    Result<std::vector<size_t>> built(const std::vector<size_t> &field);
    Result<bool> run_heat(const std::vector<size_t> &field, const Heat &heat);
    double round_ns(const std::vector<size_t> &field) const;
    Race record_of(const std::vector<size_t> &field) const;
    TrialFilter same_conditions() const;

    const TuneJob &job_;
    const Workload &workload_;
    std::vector<Contestant> contestants_;
    std::vector<Entrant> entrants_;        // of the race, by place in the field
    std::vector<std::string> conditions_;  // by heat, JSON
};

}  // namespace kiln
