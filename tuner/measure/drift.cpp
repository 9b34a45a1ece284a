#include "tuner/measure/drift.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kiln {
namespace {

constexpr size_t window = 15;       // readings
constexpr double tolerated = 0.05;  // of the usual time
constexpr size_t fewest_known = 6;  // readings, before "usual" means anything

bool is_off(double ns, double usual_ns) { return std::abs(ns / usual_ns - 1) > tolerated; }

}  // namespace

double DriftDetector::usual_ns() const {
    std::vector<double> sorted(readings_.begin(), readings_.end());
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
}

bool DriftDetector::drifted(const SentinelReading &reading) {
    if (reading.before_ns <= 0 || reading.after_ns <= 0) return false;  // a runner without a sentinel
    const bool changed = is_off(reading.after_ns, reading.before_ns);
    const bool unusual = readings_.size() >= fewest_known &&
                         (is_off(reading.before_ns, usual_ns()) || is_off(reading.after_ns, usual_ns()));
    if ((changed || unusual) && repeats_ < most_repeats) {
        repeats_++;
        return true;
    }
    if (unusual && !changed) readings_.clear();  // it stays off: the new usual
    repeats_ = 0;
    for (double ns : {reading.before_ns, reading.after_ns}) readings_.push_back(ns);
    while (readings_.size() > window) readings_.pop_front();
    return false;
}

}  // namespace kiln
