// The yardstick of a job: the machine's FMA peak for a target, measured now, compared with what was measured here
// before, and remembered when the job is done. It says on stderr what was odd.
#pragma once

#include "compare/peak.h"
#include "compare/peak_memory.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

// What a peak is of.
enum class PeakOf { f32, int8 };

class PeakKeeper {
public:
    PeakKeeper(const Machine &machine, const Target &target, PeakOf what = PeakOf::f32);
    ~PeakKeeper();
    PeakKeeper(const PeakKeeper &) = delete;
    PeakKeeper &operator=(const PeakKeeper &) = delete;

    PeakGauge &gauge() { return gauge_; }

private:
    PeakMemory memory_;
    Target target_;
    std::optional<FmaPeak> earlier_;
    PeakGauge gauge_;
};

}  // namespace kiln
