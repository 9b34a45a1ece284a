#include "records/time_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "records/memory_state.h"

namespace kiln {
namespace {

struct Range {
    double lo, hi;
};

// The range of nine tenths of the samples.
Range usual_range(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const size_t left_out = samples.size() / 20;
    return {samples[left_out], samples[samples.size() - 1 - left_out]};
}

}  // namespace

double tolerance(const Measurement &a, const Measurement &b) { return std::max({same_time, a.spread, b.spread}); }

bool times_agree(const Measurement &recorded, const Measurement &now) {
    return std::abs(now.median / recorded.median - 1) <= tolerance(recorded, now);
}

bool is_memory_another(const Measurement &recorded, const Measurement &now) {
    const auto then = memory_state_of(recorded.conditions), state = memory_state_of(now.conditions);
    return then && state && !is_like(*then, *state);
}

bool do_calls_overlap(const Measurement &recorded, const Measurement &now) {
    if (!memory_state_of(recorded.conditions) || !memory_state_of(now.conditions)) return false;
    if (recorded.samples.empty() || now.samples.empty()) return false;
    const Range then = usual_range(recorded.samples), calls = usual_range(now.samples);
    return then.lo <= calls.hi && calls.lo <= then.hi;
}

std::string difference_text(const Measurement &recorded, const Measurement &now) {
    if (recorded.metric != Metric::ns || now.metric != Metric::ns || recorded.machine != now.machine) return "";
    if (times_agree(recorded, now)) return "";
    std::string difference =
        fmt::format("{:.1f} us when it was recorded, {:.1f} us now", recorded.median * 1e-3, now.median * 1e-3);
    const auto then = memory_state_of(recorded.conditions), state = memory_state_of(now.conditions);
    if (!state) return difference;
    if (do_calls_overlap(recorded, now)) {
        const Range before = usual_range(recorded.samples), calls = usual_range(now.samples);
        difference += fmt::format(", single calls {:.1f} to {:.1f} us then, {:.1f} to {:.1f} us now", before.lo * 1e-3,
                                  before.hi * 1e-3, calls.lo * 1e-3, calls.hi * 1e-3);
    }
    if (!then) {
        return difference + fmt::format("; the state of the machine's memory was not recorded (now {})", text(*state));
    }
    return difference + fmt::format("{} (then {}; now {})",
                                    is_like(*then, *state) ? "; the machine's memory is as fast as then"
                                                           : ": the machine's memory is in another state",
                                    text(*then), text(*state));
}

}  // namespace kiln
