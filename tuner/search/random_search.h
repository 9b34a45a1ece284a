// Random search: uniform over the algorithms, then over the candidates of one. It learns nothing, which makes it the
// baseline that every other strategy is compared with.
#pragma once

#include <set>

#include "tuner/search/search.h"

namespace kiln {

class RandomSearch : public Search {
public:
    RandomSearch(std::vector<Space> spaces, uint64_t seed);

    std::optional<Candidate> propose() override;
    void observe(std::span<const Observation> observations) override;

private:
    std::vector<Space> open_spaces_;  // those that may still hold something new
    std::set<Candidate> known_;
    Rng rng_;
};

}  // namespace kiln
