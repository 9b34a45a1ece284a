#include "catalog/fold_cost.h"

#include <algorithm>
#include <cstdio>

#include "rewrites/fold.h"
#include "rewrites/panels.h"
#include "schedules/spaces/cpu_tile_rules.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "workload/division.h"

namespace kiln {
namespace {

struct LoopCost {
    double cycles = 0;
    int64_t products = 0, loop = 0;
};

LoopCost loop_cost(const ConvLoops &whole, const Target &target, const Core &core) {
    const ConvLoops s = gathered(whole);
    const auto k = checked_knobs<CpuTileKnobs>(cpu_tile_space({}, s, target, core).default_candidate().knobs);
    const RegisterTile tile = register_tile(k);
    const TileFacts facts = tile_facts(s, vector_lanes(target), target, core);
    LoopCost cost;
    cost.products = s.taps() * s.input_channels;
    cost.loop = std::max<int64_t>(1, k.unroll) * (k.unroll_columns ? s.kernel[0] : 1);
    const double tiles = double(facts.panels(tile.vectors)) * ceil_div(s.output[0], tile.pixels) *
                         ceil_div(s.output[1], tile.rows) * s.output[2] * s.batch;
    cost.cycles = tile_cost(facts, tile) * cost.products * s.output[2] * s.batch +
                  tiles * cost.products / cost.loop * core.loop_cycles;
    return cost;
}

}  // namespace

std::string FoldCost::explanation() const {
    const auto millions = [](double cycles) {
        char text[32];
        std::snprintf(text, sizeof text, "%.2f", cycles * 1e-6);
        return std::string(text);
    };
    const auto of = [](int64_t folded, int64_t direct) {
        return std::to_string(folded) + " (direct " + std::to_string(direct) + ")";
    };
    return std::string(pays() ? "estimated to pay: " : "estimated not to pay: ") + "products an output " +
           of(folded_products, direct_products) + ", steps in the innermost loop's body " +
           of(folded_loop, direct_loop) + "; million cycles " + millions(folded_cycles) + " and " +
           millions(transform_cycles) + " for the fold (direct " + millions(direct_cycles) + ")";
}

FoldCost fold_cost(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops whole = conv_loops(w);
    const ConvLoops fold = folded(whole, possible_blocks(whole).front());
    const LoopCost direct = loop_cost(whole, target, core), rewritten = loop_cost(fold, target, core);
    const double elements_of_fold = double(fold.reach(fold.output[0], 0)) * fold.reach(fold.output[1], 1) *
                                    fold.reach(fold.output[2], 2) * fold.input_channels * fold.batch;
    return {direct.cycles, rewritten.cycles, elements_of_fold * core.gather_cycles, direct.products, rewritten.products,
            direct.loop,   rewritten.loop};
}

}  // namespace kiln
