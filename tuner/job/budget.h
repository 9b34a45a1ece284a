// Which layer of a job the next trials go to, where time is short. Pure.
//
// A trial is worth the time that it is expected to save the network (odds x count x time x gain), divided by the time that it
// takes. Its gain is guessed from how the layer did lately. A little is added, since a layer at rest may still have
// something to gain; so every layer gets some trials. Before that each layer gets its floor of trials, and a layer
// without a valid trial has not reached it. The floor of a layer that takes less of the network's time than others is
// lower: networks have hundreds of small layers, and their floors alone would use up an evening.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kiln {

struct LayerProgress {
    int64_t count = 1;            // occurrences in the network
    double odds = 1;              // that what it gains is used; 0: it gets one valid trial and no more
    int64_t trials = 0;           // recorded ones included
    std::vector<double> best_ns;  // after each valid trial, in the order made; descending
    double seconds_per_trial = 1;
    bool finished = false;  // nothing more to try, or enough tried
};

struct BudgetRules {
    int64_t floor_trials = 8;  // of a layer with an average share of the time or more
    int64_t least_floor = 2;
    int64_t patience = 64;     // valid trials without gain, at least, before a layer counts as at rest
    double least_gain = 0.01;  // relative; less does not count
    int64_t give_up = 50;      // trials without a valid one
};

// The part of the best time that the next trial is expected to take off. Precondition: a valid trial.
double expected_gain(const LayerProgress &layer, const BudgetRules &rules);

// Whether the last trials, `patience` or half of all if that is more, gained nothing.
bool is_at_rest(const LayerProgress &layer, const BudgetRules &rules);

// Whether so many trials failed that there is no hope for a valid one.
bool is_hopeless(const LayerProgress &layer, const BudgetRules &rules);

// The trials that each layer gets before worth decides.
std::vector<int64_t> floors(std::span<const LayerProgress> layers, const BudgetRules &rules);

// Nothing: no layer has anything left to gain.
std::optional<size_t> next_layer(std::span<const LayerProgress> layers, const BudgetRules &rules);

}  // namespace kiln
