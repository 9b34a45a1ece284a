// A search strategy proposes candidates and is told how they did. It is pure and seeded: it sees no compiler and no
// clock, so tests feed it invented times. Each strategy is one file and one row in make_search().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "schedules/candidate.h"
#include "schedules/space.h"
#include "workload/result.h"

namespace kiln {

struct Observation {
    Candidate candidate;
    std::optional<double> time_ns;  // Summary::quiet; nothing: the trial failed
};

class Search {
public:
    virtual ~Search() = default;

    // A candidate that was neither proposed nor observed before; nothing when the spaces are exhausted.
    virtual std::optional<Candidate> propose() = 0;
    virtual void observe(std::span<const Observation> observations) = 0;
};

// The strategies that --strategy names. `spaces`: one for each algorithm that applies.
std::span<const std::string_view> search_names();
Result<std::unique_ptr<Search>> make_search(std::string_view name, std::vector<Space> spaces, uint64_t seed);

}  // namespace kiln
