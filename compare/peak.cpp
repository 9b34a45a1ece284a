#include "compare/peak.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace kiln {
namespace {

constexpr double close_enough = 0.95, same_frequency = 0.9;

}  // namespace

void PeakReading::merge(const PeakReading &again) {
    if (again.peak.gflops > peak.gflops) peak = again.peak;
    lowest_gflops = std::min(lowest_gflops, again.lowest_gflops);
    measured += again.measured;
}

PeakReading read_peak(const std::function<FmaPeak()> &measure, double expected_gflops) {
    constexpr int most = 4;
    PeakReading reading{.peak = measure()};
    reading.lowest_gflops = reading.peak.gflops;
    while (reading.measured < most && reading.peak.gflops < close_enough * expected_gflops) {
        const FmaPeak again = measure();
        reading.merge({.peak = again, .lowest_gflops = again.gflops});
    }
    return reading;
}

std::vector<Disagreement> disagreements(const TargetPeaks &peaks) {
    double fastest_ghz = 0;
    for (const PeakReading &r : peaks.readings) fastest_ghz = std::max(fastest_ghz, r.peak.frequency_ghz);
    std::vector<Disagreement> found;
    for (size_t i = 0; i < peaks.readings.size(); i++) {
        const FmaPeak &peak = peaks.readings[i].peak;
        double expected = 0;
        for (size_t j = 0; j < peaks.readings.size(); j++) {
            if (peaks.runs[i][j]) expected = std::max(expected, peaks.readings[j].peak.gflops);
        }
        if (peak.frequency_ghz < same_frequency * fastest_ghz && peak.frequency_ghz > 0) {
            expected = std::max(expected, peak.gflops * fastest_ghz / peak.frequency_ghz);
        }
        if (peak.gflops < close_enough * expected) found.push_back({i, expected});
    }
    return found;
}

Load read_load() {
    Load load{.cores = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)))};
    if (getloadavg(&load.runnable, 1) != 1) load.runnable = 0;
    return load;
}

std::string note(const PeakReading &reading, const std::optional<FmaPeak> &earlier, const Load &load) {
    const std::string busy =
        fmt::format("load {:.1f} on {} core{}", load.runnable, load.cores, load.cores == 1 ? "" : "s");
    const FmaPeak &peak = reading.peak;
    if (earlier && peak.gflops < close_enough * earlier->gflops) {
        return fmt::format(
            "peak {:.1f} GFLOP/s, but {:.1f} were measured here before: the machine is busy ({}) or slower now",
            peak.gflops, earlier->gflops, busy);
    }
    if (reading.lowest_gflops < close_enough * peak.gflops) {
        return fmt::format("peak measured {} times, {:.1f} to {:.1f} GFLOP/s: the machine was busy ({})",
                           reading.measured, reading.lowest_gflops, peak.gflops, busy);
    }
    return "";
}

PeakGauge::PeakGauge(std::function<FmaPeak()> measure, std::optional<FmaPeak> earlier)
    : measure_(std::move(measure)),
      reading_(read_peak(measure_, earlier ? earlier->gflops : 0)),
      peak_(earlier && earlier->gflops > reading_.peak.gflops ? *earlier : reading_.peak) {}

std::optional<std::string> PeakGauge::see(double gflops) {
    if (gflops <= peak_.gflops || confirmed_ || repeats_ == most_repeats) return std::nullopt;
    repeats_++;
    const FmaPeak again = measure_();
    confirmed_ = again.gflops >= close_enough * peak_.gflops && again.gflops * close_enough <= peak_.gflops;
    if (again.gflops <= peak_.gflops) return std::nullopt;
    const double before = peak_.gflops;
    peak_ = again;
    if (before >= close_enough * again.gflops) return std::nullopt;
    return fmt::format("peak measured again, as a kernel exceeded it: {:.1f} GFLOP/s, not {:.1f}; the machine was busy",
                       again.gflops, before);
}

}  // namespace kiln
