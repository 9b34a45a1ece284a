// Steps of a program that hand elements on to one other step become part of it.
#pragma once

#include <functional>
#include <optional>

#include "network/program.h"

namespace kiln::network {

struct JoinPrices {
    std::function<std::optional<double>(const Workload &)> time = {};  // ns, where it was measured; none: nothing was
    bool hopes = false;  // a nest that nobody measured may take the place of two that somebody did
};

// Joins pairs of nests while one nest takes less time than two: by their times where these are known, else because fewer bytes
// are moved. What the first step reads must still lie in memory when the second one runs. Places of all values stay as they
// are.
void join_steps(const JoinPrices &prices, Program *program);

}  // namespace kiln::network
