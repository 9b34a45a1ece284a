#include "tuner/protocol/halving.h"

#include <algorithm>
#include <numeric>

namespace kiln {
namespace {

constexpr size_t fewest_known = 8;  // medians, before a half of them means anything
constexpr double probe_factor = 2, close_to_best = 1.1;

// The least that the kernel's time can be. With few samples that is the fastest one, since a busy machine only adds
// time.
double least_ns(const Samples &samples) {
    return samples.size() < 6 ? *std::min_element(samples.begin(), samples.end()) : median_interval(samples).lo;
}

}  // namespace

std::vector<double> halving_cutoffs(const std::vector<double> &medians_ns) {
    if (medians_ns.empty()) return {};
    std::vector<double> ascending = medians_ns;
    std::sort(ascending.begin(), ascending.end());
    const double best = ascending.front();
    std::vector<double> cutoffs{probe_factor * best};
    if (ascending.size() < fewest_known) return cutoffs;
    for (const size_t share : {2, 4}) {
        const double passes = ascending[ascending.size() / share];
        cutoffs.push_back(std::min(cutoffs.back(), std::max(close_to_best * best, passes)));
    }
    return cutoffs;
}

bool is_cut_off(const Samples &samples, const std::vector<double> &cutoffs_ns) {
    const double total_ns = std::accumulate(samples.begin(), samples.end(), 0.0);
    size_t reached = 0;
    while (reached < std::min(rungs.size(), cutoffs_ns.size()) && samples.size() >= rungs[reached].samples &&
           (total_ns >= rungs[reached].total_ns)) {
        reached++;
    }
    return reached > 0 && least_ns(samples) > cutoffs_ns[reached - 1];
}

}  // namespace kiln
