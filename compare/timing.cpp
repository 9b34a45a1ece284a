#include "compare/timing.h"

#include <algorithm>

#include "records/measurement.h"

namespace kiln {

double Timing::median_ns() const { return summarize(round_medians_ns).median; }

void Timing::add(double round_median_ns, double round_min_ns) {
    min_ns = round_medians_ns.empty() ? round_min_ns : std::min(min_ns, round_min_ns);
    round_medians_ns.push_back(round_median_ns);
}

Ratio ratio(const Timing &other, const Timing &ours) {
    std::vector<double> by_round;
    const size_t rounds = std::min(other.round_medians_ns.size(), ours.round_medians_ns.size());
    for (size_t i = 0; i < rounds; i++) {
        by_round.push_back(other.round_medians_ns[i] / ours.round_medians_ns[i]);
    }
    std::sort(by_round.begin(), by_round.end());
    const size_t last = by_round.size() - 1;
    return {summarize(by_round).median, by_round[last / 4], by_round[last - last / 4]};
}

}  // namespace kiln
