#include "schedules/apply/nest_tile.h"

#include <algorithm>

#include "schedules/apply/extent.h"
#include "workload/division.h"

namespace kiln {
namespace {

using namespace Halide;

// Threads share a single loop in 64 chunks.
int steps_of_a_chunk(int64_t columns, int64_t step) { return extent(ceil_div(ceil_div(columns, step), 64)); }

// Answers the innermost of the loops, which may be one with others now.
Var share(Func output, std::vector<Var> outer, int64_t count) {
    if (outer.empty()) return {};
    if (count == 0) return outer.back();
    Var all = outer[0];
    for (int64_t d = 1; d < count && d < static_cast<int64_t>(outer.size()); d++) {
        const Var fused("fused_" + std::to_string(d));
        output.fuse(outer[d], all, fused);
        all = fused;
    }
    output.parallel(all);
    return count >= static_cast<int64_t>(outer.size()) ? all : outer.back();
}

void sum_in_registers(NestStages &s, const NestTileKnobs &k, int lanes, const Var &at) {
    const Var x = s.loops.back(), vector("vector"), lane("lane");
    s.sum.compute_at(s.output, at).bound_extent(x, extent(k.vectors) * lanes);
    s.sum.split(x, vector, lane, lanes).vectorize(lane).unroll(vector);
    Stage update = s.sum.update();
    std::vector<VarOrRVar> order{lane, vector};
    if (k.rows > 1) {
        const Var y = s.loops[s.loops.size() - 2];
        s.sum.bound_extent(y, extent(k.rows)).unroll(y);
        order.push_back(y);
    }
    for (size_t d = s.over.size(); d-- > 0;) order.push_back(s.over[d]);
    update.split(x, vector, lane, lanes).reorder(order).vectorize(lane).unroll(vector);
    if (k.rows > 1) update.unroll(s.loops[s.loops.size() - 2]);
    if (!k.unroll_over) return;
    for (const RVar &r : s.over) update.unroll(r);
}

// The copies of a step's columns, a vector of the columns after the other.
void copy_columns(NestStages &s, const NestTileKnobs &k, int lanes, const Var &step) {
    for (Func &copied : s.copied) {
        const Var x = copied.args().front(), vector("vector"), lane("lane");
        copied.compute_at(s.output, step).store_in(MemoryType::Stack).bound_extent(x, extent(k.vectors) * lanes);
        copied.split(x, vector, lane, lanes).vectorize(lane).unroll(vector);
    }
}

// What happens at an end of `size` elements that is no whole tile. A tile that is moved back computes elements twice, which is
// wrong where the first time has written over an operand.
TailStrategy tail_of(const NestForm &form, int64_t size, int64_t tile) {
    return size % tile != 0 && may_be_in_place(form) ? TailStrategy::GuardWithIf : TailStrategy::ShiftInwards;
}

void apply_columns(NestStages &s, const NestTileKnobs &k, int lanes, const NestForm &form) {
    const int64_t columns = form.loops.back();
    Func &out = s.output;
    const Var x = s.loops.back(), step("step"), in_step("in_step"), vector("vector"), lane("lane");
    std::vector<Var> outer(s.loops.begin(), s.loops.end() - 1);
    std::vector<VarOrRVar> order{lane, vector};
    const int tile = extent(k.vectors) * lanes;
    out.split(x, step, in_step, tile, tail_of(form, columns, tile)).split(in_step, vector, lane, lanes);
    if (k.rows > 1) {
        const Var rows("rows"), row("row");
        out.split(outer.back(), rows, row, extent(k.rows), tail_of(form, form.loops[form.loops.size() - 2], k.rows));
        outer.back() = rows;
        order.push_back(row);
    }
    Var at = step;
    if (k.copied) {
        at = outer.back();
        outer.back() = step;
        order.push_back(at);
    } else {
        order.push_back(step);
    }
    for (size_t d = outer.size(); d-- > 0;) order.push_back(outer[d]);
    out.reorder(order).vectorize(lane);
    k.together ? out.vectorize(vector) : out.unroll(vector);
    if (k.rows > 1) out.unroll(Var("row"));
    if (outer.empty() && k.parallel) {
        const Var chunk("chunk"), in_chunk("in_chunk");
        out.split(step, chunk, in_chunk, steps_of_a_chunk(columns, extent(k.vectors) * lanes),
                  TailStrategy::GuardWithIf);
        at = in_chunk, outer = {chunk};
    }
    if (s.sum.defined()) sum_in_registers(s, k, lanes, at);
    const Var innermost = share(out, outer, k.parallel);
    if (k.copied) copy_columns(s, k, lanes, innermost);
}

void apply_over(NestStages &s, const NestTileKnobs &k) {
    const Var x = s.loops.back();
    s.partial.compute_at(s.output, x).vectorize(s.lane);
    std::vector<VarOrRVar> order{s.lane};
    for (size_t d = s.lanes_over.size(); d-- > 0;) order.push_back(s.lanes_over[d]);
    s.partial.update().reorder(order).vectorize(s.lane);
    if (s.partial.num_update_definitions() > 1) s.partial.update(1).vectorize(s.lane);
    s.total.compute_at(s.output, x);
    s.total.update().atomic().vectorize(s.sums);
    share(s.output, s.loops.size() > 1 ? std::vector<Var>(s.loops.begin(), s.loops.end() - 1) : s.loops, k.parallel);
}

// The columns of a vector of rows are computed one after the other, and Halide stores them together, interleaved.
void apply_across(NestStages &s, const NestTileKnobs &k, int lanes, const NestForm &form) {
    Func &out = s.output;
    const Var x = s.loops.back(), step("step"), in_step("in_step"), vector("vector"), lane("lane");
    std::vector<Var> outer(s.loops.begin(), s.loops.end() - 1);
    const int64_t rows = form.loops[form.loops.size() - 2];
    const int tile = extent(k.vectors) * lanes;
    out.split(outer.back(), step, in_step, tile, tail_of(form, rows, tile)).split(in_step, vector, lane, lanes);
    outer.back() = step;
    std::vector<VarOrRVar> order{lane, x, vector};
    for (size_t d = outer.size(); d-- > 0;) order.push_back(outer[d]);
    out.bound(x, 0, extent(form.loops.back())).reorder(order).vectorize(lane).unroll(x).unroll(vector);
    share(out, outer, k.parallel);
}

}  // namespace

void apply_nest_tile(NestStages &s, const NestTileKnobs &k, const NestForm &form, const Target &target) {
    if (s.count.defined()) s.count.compute_root();
    if (k.lanes == 1) return apply_over(s, k);
    const int lanes = extent(nest_lanes(k, form, target));
    if (k.lanes == 2) return apply_across(s, k, lanes, form);
    apply_columns(s, k, lanes, form);
}

}  // namespace kiln
