// Whether the machine was as fast during a measurement as before, from the times of a sentinel: a fixed piece of work
// that the measuring process does right before and right after it samples a kernel. Pure.
//
// A reading far off the usual one means that frequency, neighbours or steal changed: what was sampled meanwhile is
// measured again. Where it stays off, the machine has a new usual speed, and later readings are compared with that.
#pragma once

#include <cstddef>
#include <deque>

namespace kiln {

struct SentinelReading {
    double before_ns = 0, after_ns = 0;
    bool operator==(const SentinelReading &) const = default;
};

class DriftDetector {
public:
    // Whether the measurement between these should be made again. At most `most_repeats` times in a row.
    bool drifted(const SentinelReading &reading);

    static constexpr int most_repeats = 2;

private:
    double usual_ns() const;

    std::deque<double> readings_;  // of measurements that were kept, the newest last
    int repeats_ = 0;
};

}  // namespace kiln
