// The machine's FMA peak as a yardstick that can be trusted: one busy moment must not become the denominator of all
// shares. A measurement can only be too low, so what disagrees is measured again and the highest counts. Pure: measuring
// comes in as a function.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/measure/hardware_probe.h"

namespace kiln {

// Several measurements of one peak.
struct PeakReading {
    FmaPeak peak;  // the highest
    double lowest_gflops = 0;
    int measured = 1;  // times

    void merge(const PeakReading &again);
};

// Measures until the peak is not below `expected_gflops` by more than a twentieth, at most four times.
PeakReading read_peak(const std::function<FmaPeak()> &measure, double expected_gflops);

// Targets of one CPU, each with its reading. `runs[i][j]`: target i has all that target j needs.
struct TargetPeaks {
    std::vector<PeakReading> readings;
    std::vector<std::vector<bool>> runs;
};

// Which readings cannot be: the core was slower than for another target, or a target has less than one whose
// instructions it has too. By a tenth and a twentieth; each with the peak that it should have at least.
struct Disagreement {
    size_t target = 0;
    double expected_gflops = 0;
};
std::vector<Disagreement> disagreements(const TargetPeaks &peaks);

// How busy the machine is, for messages.
struct Load {
    double runnable = 0;  // processes, averaged over the last minute
    int cores = 1;
};
Load read_load();

// What a reader must know of a reading; empty where nothing was odd. `earlier`: measured here before.
std::string note(const PeakReading &reading, const std::optional<FmaPeak> &earlier, const Load &load);

// The peak that a job's speeds are shares of. It begins with the highest of what is measured now and what was measured
// here before, and is measured again when a kernel exceeds it.
class PeakGauge {
public:
    PeakGauge(std::function<FmaPeak()> measure, std::optional<FmaPeak> earlier);

    const FmaPeak &peak() const { return peak_; }
    const PeakReading &reading() const { return reading_; }  // of now

    // A kernel's speed. Answers a message where the peak changed. Kernels that skip operations that are counted exceed
    // any peak, so two measurements that agree are the last ones.
    std::optional<std::string> see(double gflops);

private:
    static constexpr int most_repeats = 5;

    std::function<FmaPeak()> measure_;
    PeakReading reading_;
    FmaPeak peak_;
    int repeats_ = 0;
    bool confirmed_ = false;
};

}  // namespace kiln
