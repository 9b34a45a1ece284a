#include "schedules/apply/computed_once.h"

#include <algorithm>

namespace kiln {

using namespace Halide;

void apply_first(FirstOfSums sums) {
    sums.first.compute_root().bound(sums.lanes.loop, 0, sums.lanes.extent);
    for (const KnownLoop &loop : sums.around) sums.first.bound(loop.loop, 0, loop.extent);
    sums.vector > 0 ? sums.first.vectorize(sums.lanes.loop, sums.vector) : sums.first.vectorize(sums.lanes.loop);
    if (!sums.in_order.empty()) sums.first.reorder(sums.in_order);
    if (sums.parts.extent > 1) {
        sums.first.bound(sums.parts.loop, 0, sums.parts.extent)
            .reorder(sums.lanes.loop, sums.parts.loop)
            .unroll(sums.parts.loop);
    }
}

void apply_panel_pack(Func packed, const KnownLoop &lanes, bool in_vectors) {
    if (in_vectors) packed.vectorize(lanes.loop, lanes.extent);
}

void apply_prepare(PreparedInput input) {
    const int vector = std::min(input.lanes, input.channels.extent);
    if (vector > 1) input.prepared.vectorize(input.channels.loop, vector, TailStrategy::GuardWithIf);
    if (input.parallel) input.prepared.parallel(input.rows);
}

}  // namespace kiln
