#include "tuner/job/budget.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace kiln {
namespace {

// What a layer may gain from a trial whatever it did lately; like the chance of a new best among n draws, it falls as
// 1/n.
constexpr double hope = 0.02;

double relative_gain(const LayerProgress &layer, size_t window) {
    const size_t n = layer.best_ns.size();
    const double before = layer.best_ns[n - 1 - std::min(window, n - 1)];
    return 1 - layer.best_ns.back() / before;
}

double value(const LayerProgress &layer, const BudgetRules &rules) {
    return layer.odds * static_cast<double>(layer.count) * layer.best_ns.back() * expected_gain(layer, rules) /
           std::max(layer.seconds_per_trial, 1e-3);
}

// What the network spends in the layer as it is now; 0 where nothing is known yet.
double network_ns(const LayerProgress &layer) {
    return layer.best_ns.empty() ? 0 : layer.odds * static_cast<double>(layer.count) * layer.best_ns.back();
}

bool is_unused(const LayerProgress &layer) { return layer.odds == 0 && !layer.best_ns.empty(); }

}  // namespace

double expected_gain(const LayerProgress &layer, const BudgetRules &rules) {
    assert(!layer.best_ns.empty());
    const size_t n = layer.best_ns.size();
    const size_t window = std::max<size_t>(static_cast<size_t>(rules.floor_trials), n / 3);
    const double recent = relative_gain(layer, window) / static_cast<double>(std::min(window, n));
    return std::max(recent, hope / static_cast<double>(n));
}

bool is_at_rest(const LayerProgress &layer, const BudgetRules &rules) {
    const size_t n = layer.best_ns.size();
    const size_t window = std::max<size_t>(static_cast<size_t>(rules.patience), n / 2);
    return n > window && relative_gain(layer, window) < rules.least_gain;
}

bool is_hopeless(const LayerProgress &layer, const BudgetRules &rules) {
    return layer.best_ns.empty() && layer.trials >= rules.give_up;
}

std::vector<int64_t> floors(std::span<const LayerProgress> layers, const BudgetRules &rules) {
    double total = 0;
    for (const LayerProgress &layer : layers) total += network_ns(layer);
    std::vector<int64_t> result;
    for (const LayerProgress &layer : layers) {
        const double share = total > 0 ? network_ns(layer) * static_cast<double>(layers.size()) / total : 1;
        const auto trials =
            static_cast<int64_t>(std::ceil(static_cast<double>(rules.floor_trials) * std::min(1.0, share)));
        result.push_back(std::max(rules.least_floor, trials));
    }
    return result;
}

std::optional<size_t> next_layer(std::span<const LayerProgress> layers, const BudgetRules &rules) {
    std::optional<size_t> chosen;
    // The floor: whoever has the fewest trials.
    const std::vector<int64_t> floor = floors(layers, rules);
    const auto below_floor = [&](size_t i) { return layers[i].best_ns.empty() || layers[i].trials < floor[i]; };
    const auto comes_before = [&](size_t a, size_t b) {
        if (below_floor(a) != below_floor(b)) return below_floor(a);
        if (!below_floor(a)) return value(layers[a], rules) > value(layers[b], rules);
        // One whose trials all failed must not keep the others from their first.
        return layers[a].trials < layers[b].trials;
    };
    for (size_t i = 0; i < layers.size(); i++) {
        const LayerProgress &layer = layers[i];
        if (layer.finished || is_unused(layer) || is_at_rest(layer, rules) || is_hopeless(layer, rules)) continue;
        if (!chosen || comes_before(i, *chosen)) chosen = i;
    }
    return chosen;
}

}  // namespace kiln
