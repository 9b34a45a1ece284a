#include "tuner/search/random_search.h"

#include <utility>

namespace kiln {

RandomSearch::RandomSearch(std::vector<Space> spaces, uint64_t seed) : open_spaces_(std::move(spaces)), rng_(seed) {}

void RandomSearch::observe(std::span<const Observation> observations) {
    for (const Observation &observation : observations) known_.insert(observation.candidate);
}

// Every draw consumes the generator in the same way, whether it is new or not: a search that is told of its own earlier
// proposals goes on exactly where it would have gone.
std::optional<Candidate> RandomSearch::propose() {
    // Spaces are not enumerable (constraints), so one counts as exhausted after many draws without anything new. With k
    // valid candidates the last new one is missed with a probability of (1 - 1/k)^limit, at most e^-10.
    const size_t limit = 1000 + 10 * known_.size();
    std::vector<size_t> repeats(open_spaces_.size(), 0);
    while (!open_spaces_.empty()) {
        const size_t chosen = rng_() % open_spaces_.size();
        std::optional<Candidate> candidate = open_spaces_[chosen].sample(rng_);
        if (candidate && known_.insert(*candidate).second) return candidate;
        if (candidate && ++repeats[chosen] < limit) continue;
        open_spaces_.erase(open_spaces_.begin() + static_cast<std::ptrdiff_t>(chosen));
        repeats.erase(repeats.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return std::nullopt;
}

}  // namespace kiln
