// Decides which alterations a network gets: those that cost less, place by place.
//
// The cost is that of the whole network in its best layouts (network/layouts.h). Where the kernels of all convolutions that an
// alteration takes away and puts in were measured, times decide; where those that it takes away were not, estimates of both
// sides do. Where only what stands there was measured, it stays, unless `prices` hopes for the best.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "network/alter/alteration.h"
#include "network/layout_costs.h"
#include "network/program.h"
#include "workload/result.h"

namespace kiln::network {

struct AlterOptions {
    LayoutPrices prices = {};
    std::function<bool(std::string_view name)> is_off = [](std::string_view) { return false; };
    std::vector<Alteration> more = {};  // a user's, behind those of kiln
    // Each patch is weighed by what the whole network costs, so the time grows with the square of its nodes. Where so many nodes
    // were priced, all further places stay as they are. Networks of a few thousand nodes do not come that far.
    int64_t most_priced_nodes = 4'000'000;
};

struct Altered {
    graph::Graph graph;
    // A line for each place, in the order in which they were tried; then one for all places of an alteration that were not weighed.
    std::vector<AlterationNote> notes;
};

// All passes and alterations. An error (bad input) is one of a user's alteration; where one of kiln's own is at fault, the place
// stays as it is.
Result<Altered> improve(const graph::Graph &imported, const AlterOptions &options);

// Alterations alone, of a graph behind all passes.
Result<Altered> alter(const graph::Graph &graph, std::span<const Alteration> alterations, const AlterOptions &options);

}  // namespace kiln::network
