#include "tuner/job/racing/race_heats.h"

#include <algorithm>

#include "schedules/candidate.h"

namespace kiln {
namespace {

constexpr double shortest_sample_ns = 100e3;  // of the measuring process
constexpr double heat_overhead_ns = 100e6, entrant_overhead_ns = 15e6;

}  // namespace

Result<std::vector<size_t>> RaceHeats::built(std::vector<Contestant> *contestants,
                                             const std::vector<size_t> &wanted) const {
    std::vector<size_t> available;
    for (const size_t i : wanted) {
        Contestant &c = (*contestants)[i];
        if (!c.artifact) {
            Result<Candidate> candidate = parse_candidate(c.trial.candidate);
            if (!candidate) continue;
            Result<BuildResult> result = job_.environment.builder.build({workload_, job_.target, *candidate});
            if (!result) return result.error();
            if (!result->ok() || result->value().object_hash != c.trial.object_hash) continue;
            c.artifact = result->value();
        }
        available.push_back(i);
    }
    return available;
}

Result<Attempt<HeatReport>> RaceHeats::run(const Heat &heat) const {
    HeatRequest request;
    request.workload = workload_;
    request.target = job_.target;
    request.cache = job_.options.cache;
    request.rounds = heat.rounds;
    request.seed = heat.seed;
    request.out_of_time = [this, start_ns = job_.environment.now_ns(), time_ns = heat.time_ns] {
        return job_.options.time_limit_ns && time_ns > 0 && job_.environment.now_ns() - start_ns > 2 * time_ns;
    };
    for (const Contestant *c : heat.racing) {
        request.artifacts.push_back(*c->artifact);
        request.workspace_bytes = std::max(request.workspace_bytes, c->trial.workspace_bytes.value_or(0));
        request.workspace_bytes_per_thread =
            std::max(request.workspace_bytes_per_thread, c->trial.workspace_bytes_per_thread.value_or(0));
    }
    return job_.environment.runner.heat(request);
}

double round_ns(const std::vector<Contestant> &contestants, const std::vector<size_t> &racing) {
    double sum = 0;
    for (const size_t i : racing) {
        const double ns = contestants[i].time.median;
        sum += ns + std::max(ns, shortest_sample_ns);
    }
    return sum;
}

double heat_ns(const std::vector<Contestant> &contestants, const std::vector<size_t> &racing, int rounds) {
    return heat_overhead_ns + entrant_overhead_ns * static_cast<double>(racing.size()) +
           rounds * round_ns(contestants, racing);
}

}  // namespace kiln
