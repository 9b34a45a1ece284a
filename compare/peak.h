// The machine's FMA peak, which is the denominator of all shares, so that one busy moment must not decide it. A
// measurement can only be too low. So readings that disagree are measured again, and the highest counts. Pure:
// measuring is a function that callers pass.
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

// The readings that cannot be right, each with the least peak that it should have. The core was slower than for another
// target by more than a tenth, or a target's peak is lower by more than a twentieth than that of a target whose
// instructions it includes.
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

// A note for the reader of a reading; empty if nothing was odd. `earlier`: the peak measured here before.
std::string note(const PeakReading &reading, const std::optional<FmaPeak> &earlier, const Load &load);

// A job's speeds are shares of this peak. It begins with the higher of the peak measured now and the one measured here
// before. It is measured again when a kernel exceeds it.
class PeakGauge {
public:
    PeakGauge(std::function<FmaPeak()> measure, std::optional<FmaPeak> earlier);

    const FmaPeak &peak() const { return peak_; }
    const PeakReading &reading() const { return reading_; }  // of now

    // Takes a kernel's speed and answers a message if the peak changed. A kernel that skips counted operations exceeds
    // any peak, so measuring stops after two readings that agree.
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
