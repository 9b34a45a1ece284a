#include "tuner/job/budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kiln {
namespace {

LayerProgress likely(double odds, LayerProgress layer) {
    layer.odds = odds;
    return layer;
}

LayerProgress layer(int64_t count, std::vector<double> best_ns, double seconds_per_trial = 1) {
    LayerProgress l;
    l.count = count;
    l.trials = static_cast<int64_t>(best_ns.size());
    l.best_ns = std::move(best_ns);
    l.seconds_per_trial = seconds_per_trial;
    return l;
}

LayerProgress without_valid(int64_t trials) {
    LayerProgress l;
    l.trials = trials;
    return l;
}

LayerProgress finished() {
    LayerProgress l;
    l.finished = true;
    return l;
}

std::vector<double> flat(size_t n, double ns) { return std::vector<double>(n, ns); }

// Half of the time is gained in the first trials, then nothing.
std::vector<double> early_gain(size_t n, double ns) {
    std::vector<double> times = flat(n, ns);
    times[0] = 2 * ns;
    return times;
}

std::vector<double> steady_gain(size_t n, double ns, double gain_per_trial) {
    std::vector<double> times;
    for (size_t i = 0; i < n; i++) times.push_back(ns * std::pow(1 - gain_per_trial, static_cast<double>(i)));
    return times;
}

TEST(NextLayer, FloorThenWorth) {
    const struct {
        const char *what;
        std::vector<LayerProgress> layers;
        std::optional<size_t> next;
    } table[] = {
        {"none", {}, {}},
        {"all finished", {finished(), finished()}, {}},
        {"the floor, fewest trials first", {layer(1, flat(4, 9)), layer(1, flat(2, 9)), layer(1, flat(3, 9))}, 1},
        {"the floor before any worth", {layer(3, flat(20, 90)), layer(1, flat(7, 270))}, 1},
        {"a small layer has a low floor", {layer(1000, flat(20, 9e9)), layer(1, flat(2, 1))}, 0},
        {"which it gets", {layer(1000, flat(20, 9e9)), layer(1, flat(1, 1))}, 1},
        {"one without a valid trial is below it", {layer(1, flat(20, 100)), without_valid(30)}, 1},
        {"but does not keep others from theirs", {without_valid(30), layer(1, flat(1, 1))}, 1},
        {"no hope is given up", {without_valid(50), layer(1, flat(20, 1))}, 1},
        {"odds", {layer(1, flat(20, 100)), likely(0.25, layer(3, flat(20, 100)))}, 0},
        {"count", {layer(1, flat(20, 100)), layer(3, flat(20, 100))}, 1},
        {"time", {layer(1, flat(20, 100)), layer(1, flat(20, 300))}, 1},
        {"expected gain", {layer(1, early_gain(20, 100)), layer(1, steady_gain(20, 100, 0.01))}, 1},
        {"cost of a trial", {layer(1, flat(20, 100), 4), layer(1, flat(20, 100), 1)}, 1},
        {"many trials without gain lower the hope", {layer(1, flat(60, 100)), layer(1, flat(20, 100))}, 1},
        {"at rest", {layer(1000, flat(65, 100)), layer(1, flat(20, 1))}, 1},
        {"all at rest", {layer(1, flat(65, 100)), layer(2, flat(80, 1))}, {}},
        {"finished is out", {finished(), layer(1, flat(20, 1))}, 1},
    };
    for (const auto &row : table) EXPECT_EQ(next_layer(row.layers, {}), row.next) << row.what;
}

TEST(Floors, FollowTheShareOfTheTime) {
    const struct {
        const char *what;
        std::vector<LayerProgress> layers;
        std::vector<int64_t> floors;
    } table[] = {
        {"none", {}, {}},
        {"nothing is known", {without_valid(1), without_valid(2)}, {8, 8}},
        {"alike", {layer(1, {5}), layer(1, {5})}, {8, 8}},
        {"count and time", {layer(4, {5}), layer(2, {5}), layer(1, {10}), layer(1, {1})}, {8, 8, 8, 2}},
        {"half of the average", {layer(1, {30}), layer(1, {10})}, {8, 4}},
        {"one that failed so far", {layer(1, {10}), without_valid(3)}, {8, 2}},
    };
    for (const auto &row : table) EXPECT_EQ(floors(row.layers, {}), row.floors) << row.what;
}

TEST(IsAtRest, NeedsManyTrialsWithoutGain) {
    const struct {
        std::vector<double> best_ns;
        bool at_rest;
    } table[] = {
        {{}, false},
        {flat(64, 100), false},
        {flat(65, 100), true},
        {early_gain(65, 100), false},  // the first one was still in the window
        {early_gain(66, 100), true},
        {steady_gain(200, 100, 0.001), false},
        {steady_gain(200, 100, 0.00001), true},  // too little to count
    };
    for (const auto &row : table) EXPECT_EQ(is_at_rest(layer(1, row.best_ns), {}), row.at_rest) << row.best_ns.size();
}

// A whole job on paper: two layers of which one matters ten times as much, and improves as 1 / trials.
TEST(NextLayer, SpendsWhereItMatters) {
    std::vector<LayerProgress> layers(2);
    layers[0].count = 1, layers[1].count = 10;
    for (int i = 0; i < 200; i++) {
        const auto next = next_layer(layers, {.patience = 1000});
        ASSERT_TRUE(next);
        LayerProgress &l = layers[*next];
        l.trials++;
        l.best_ns.push_back(100 * (1 + 1 / static_cast<double>(l.trials)));
    }
    EXPECT_GE(layers[0].trials, 8);
    EXPECT_GT(layers[1].trials, 2 * layers[0].trials);
}

}  // namespace
}  // namespace kiln
