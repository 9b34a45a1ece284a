// Races kernels where a network runs them. A kernel that runs alone, with its weights in memory, does not meet what it meets
// there: what other steps leave in the caches, and what the last call left of its weights. So the fastest of one kind of race
// need not be the fastest of the other.
//
// A network has many layers, but few versions race all of them at once: version 0 has the kernels that are in use, version 1 the
// default ones, and each other version one more kernel of each layer that has so many. The versions run in turns, a process
// each, and each step is under the clock. Kernels of a layer are compared by the times of its steps alone, by the rules of other
// races (tuner/race/race_rules.h). Turns of all versions are a heat.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/race.h"
#include "records/trial.h"
#include "schedules/candidate.h"
#include "tuner/measure/network_runner.h"
#include "tuner/race/race_rules.h"

namespace kiln {

struct NetworkKernel {
    size_t version = 0;  // of the network, that has it
    Candidate candidate;
    Trial trial;  // ok
    bool is_default = false;
};

struct NetworkLayer {
    Workload workload;
    std::vector<size_t> steps;           // of the network
    std::vector<NetworkKernel> kernels;  // ascending by version, an object each; the first has version 0
};

// The one that a version of the network has.
const NetworkKernel &kernel_of(const NetworkLayer &layer, size_t version);

// One more than the last version that a kernel has; 0 without layers.
size_t version_count(const std::vector<NetworkLayer> &layers);

// What the builds of the kernels in use took, one after the other, as far as their trials tell.
int64_t build_ns(const std::vector<NetworkLayer> &layers);

// Leaves out the kernels of a version, and layers that have nothing to race then.
void leave_out_version(size_t version, std::vector<NetworkLayer> *layers);

// Runs a version of the network, with each step under the clock.
using RunVersion = std::function<Result<Attempt<NetworkRunReport>>(size_t version)>;

struct NetworkRaceTime {
    std::function<int64_t()> now_ns;
    std::function<bool()> interrupted;
    std::optional<int64_t> end_ns = {};  // no heat begins that would go on after it
    std::function<void(size_t heat)> tell = {};
};

// Whole calls, as the sum of their steps.
struct VersionCalls {
    size_t version = 0;
    Heats heats;  // ns of a call; fewer than others have where the version left early
};

struct NetworkRaceResult {
    std::vector<NetworkLayer> layers;            // that raced
    std::vector<std::vector<Entrant>> entrants;  // of each layer, by kernel; the samples are ns of a step of the layer
    std::vector<std::vector<RacePlace>> places;  // of each layer
    std::vector<VersionCalls> versions;
    std::vector<std::string> conditions;  // JSON, of each run
    std::string problem = {};             // why there is no result; for people

    bool is_decided() const { return problem.empty(); }
    const NetworkKernel &winner(size_t layer) const { return layers[layer].kernels[places[layer].front().entrant]; }
};

// Up to eight heats, fewer where all layers are decided. A version that fails takes its kernels out of the race; where it is
// version 0, or fewer than three heats are possible, there is no result. Errors: the job cannot go on, or was interrupted.
Result<NetworkRaceResult> race_in_network(std::vector<NetworkLayer> layers, const RunVersion &run,
                                          const NetworkRaceTime &time);

// Three heats of whole calls; nothing where there is no time for them, or a version fails.
Result<std::optional<std::vector<VersionCalls>>> compare_versions(const std::vector<size_t> &versions,
                                                                  const RunVersion &run, const NetworkRaceTime &time);

// How many times as long calls of one version take as those of the other. Precondition: both have a heat.
double call_ratio(const VersionCalls &numerator, const VersionCalls &denominator);

// What the store keeps of a decided race: a race for each layer.
std::vector<Race> races_of(const NetworkRaceResult &result, const std::string &network, const std::string &created_at);

}  // namespace kiln
