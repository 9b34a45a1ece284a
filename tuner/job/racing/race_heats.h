// Heats of one workload's contestants: kernels that are there or are built again, loaded side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "tuner/job/racing/contestant.h"
#include "tuner/job/tune_job.h"

namespace kiln {

class RaceHeats {
public:
    RaceHeats(const TuneJob &job, const Workload &workload) : job_(job), workload_(workload) {}

    // Those of the wanted contestants whose kernels are still there, or can be built again as they were judged.
    Result<std::vector<size_t>> built(std::vector<Contestant> *contestants, const std::vector<size_t> &wanted) const;

    struct Heat {
        std::vector<const Contestant *> racing;  // built
        int rounds = 1;
        uint64_t seed = 1;
        int64_t time_ns =
            0;  // of all heats; waiting for other processes ends after twice that where the job's time is limited; 0: never
    };
    // A failure is of one of the kernels, though all were judged before.
    Result<Attempt<HeatReport>> run(const Heat &heat) const;

private:
    const TuneJob &job_;
    const Workload &workload_;
};

// What a round takes: each kernel runs once untimed and is then timed. And a heat, with what comes before its rounds.
double round_ns(const std::vector<Contestant> &contestants, const std::vector<size_t> &racing);
double heat_ns(const std::vector<Contestant> &contestants, const std::vector<size_t> &racing, int rounds);

}  // namespace kiln
