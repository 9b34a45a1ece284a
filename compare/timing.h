// Times of kernels that had their turns in the same rounds, and their ratios.
#pragma once

#include <string>
#include <vector>

namespace kiln {

// One kernel over all rounds.
struct Timing {
    std::string candidate;  // of a peer: what it says about its implementation
    std::vector<double> round_medians_ns;
    double min_ns = 0;
    std::string conditions = {};  // of the latest round, as in Measurement

    double median_ns() const;
    void add(double round_median_ns, double round_min_ns);
};

// One kernel takes this many times as long as the other: the median of the rounds' own ratios, and their quartiles. A
// slow phase of the machine meets both in a round, so ratios of rounds tell more than the ratio of two medians.
struct Ratio {
    double value = 0, lo = 0, hi = 0;
};
Ratio ratio(const Timing &other, const Timing &ours);  // of the rounds that both have, at least one

}  // namespace kiln
