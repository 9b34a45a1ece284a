// A race: a paired, interleaved comparison of ok trials in one run. Each round calls every entry once, in an order
// drawn anew, so the machine's state in that round is the same for all of them; ratios are taken within rounds.
//
// The view `best` answers the winner, entries[0], from then on. The winner is the fastest entry; where several tie, it is
// the default or else the one with the smallest code. An entry whose interval includes 1 ties with the winner, also where its ratio is below
// 1.
#pragma once

#include <string>
#include <vector>

#include "records/trial.h"

namespace kiln {

struct RaceEntry {
    std::string trial;                  // id of an ok trial of the race's workload, target, ... and metric
    double ratio = 1;                   // its time over the winner's
    double ratio_lo = 1, ratio_hi = 1;  // the ratio's interval; of the winner itself all three are 1
    std::vector<double> samples;  // one a round, in the race's metric; fewer than the winner's where it left early
    bool operator==(const RaceEntry &) const = default;
};

struct Race {
    std::string id;        // content id, 32 hex digits; append() computes it when empty
    std::string workload;  // key(Workload)
    std::string target;    // Target::halide
    int threads = 1;
    std::string machine;  // key(Machine)
    std::string toolchain;
    CacheMode cache = CacheMode::warm;
    double error_budget = 0;
    Metric metric = Metric::ns;
    double confidence = 0.95;        // of the intervals
    std::string conditions;          // JSON, see Measurement
    std::string created_at;          // UTC, ISO 8601 with milliseconds
    std::vector<RaceEntry> entries;  // in order of places, the winner first
    bool operator==(const Race &) const = default;
};

}  // namespace kiln
