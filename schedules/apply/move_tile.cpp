#include "schedules/apply/move_tile.h"

#include <algorithm>

namespace kiln {
namespace {

using namespace Halide;

constexpr TailStrategy guarded = TailStrategy::GuardWithIf;

class MoveTile {
public:
    MoveTile(MoveStages &stages, const Candidate &candidate, const ShuffleForm &form)
        : s_(stages), candidate_(candidate), form_(form) {}

    void apply() {
        switch (static_cast<MoveMethod>(knob("method"))) {
            case move_rows:
                rows();
                break;
            case move_transpose:
                transposed_tiles();
                break;
            case move_shuffle:
                shuffled_tiles();
                break;
            case move_stream:
            case move_matrix:
                return matrix_blocks();
        }
        std::vector<VarOrRVar> order(step_.begin(), step_.end());
        arrange_loops();
        for (const MovedLoop &loop : around_) order.push_back(loop.variable);
        s_.output.reorder(order);
        const Var at = around_.front().variable;
        share_among_threads();
        if (knob("ahead")) fetch_ahead();
        for (TileStage &stage : s_.tile) keep_in_registers(stage, at);
    }

private:
    int knob(const char *name) const { return static_cast<int>(candidate_.knob(name)); }

    void rows() {
        MovedLoop &innermost = s_.loops.back();
        const int lanes = knob("lanes");
        Var lane("lane");
        if (lanes > 1) {
            s_.output.split(innermost.variable, innermost.variable, lane, lanes, TailStrategy::ShiftInwards)
                .vectorize(lane);
            step_.push_back(lane);
            innermost.extent = (innermost.extent + lanes - 1) / lanes, innermost.read_stride *= lanes;
        }
    }

    // Tiles along one digit, in blocks: answers the loop over the tiles of a block; that over blocks takes the digit's
    // place.
    MovedLoop tile(int digit, int size, int block, const Var &inside) {
        MovedLoop &whole = s_.loops[digit];
        MovedLoop tiles{Var(whole.variable.name() + "_tile"), block, whole.read_stride * size};
        s_.output.split(whole.variable, whole.variable, inside, size, guarded)
            .split(whole.variable, whole.variable, tiles.variable, block, guarded);
        whole.extent = (whole.extent + int64_t(size) * block - 1) / (int64_t(size) * block);
        whole.read_stride *= int64_t(size) * block;
        return tiles;
    }

    void transposed_tiles() {
        Var lane("lane"), row("row");
        const MovedLoop read = tile(s_.read, knob("rows"), knob("block_read"), row),
                        written = tile(s_.written, knob("lanes"), knob("block_written"), lane);
        s_.output.vectorize(lane).unroll(row);
        step_ = {lane, row};
        around_ = knob("inner") ? std::vector{read, written} : std::vector{written, read};
    }

    void shuffled_tiles() {
        Var lane("lane"), vector("vector"), in_tile("in_tile");
        MovedLoop &along = s_.loops[s_.written];
        const int64_t tile = form_.smallest_tile(knob("lanes")) * knob("rows");
        s_.output.split(along.variable, along.variable, in_tile, static_cast<int>(tile * form_.written_stride), guarded)
            .split(in_tile, vector, lane, knob("lanes"))
            .vectorize(lane)
            .unroll(vector);
        along.read_stride = tile * form_.read_stride;
        step_ = {lane, vector};
        for (int d : s_.unrolled) {
            s_.output.unroll(s_.loops[d].variable);
            step_.push_back(s_.loops[d].variable);
        }
    }

    // Each thread moves blocks of its own. Their loops are in order as they are: Halide sees no two of them as
    // independent.
    void matrix_blocks() {
        if (!knob("parallel")) return;
        RVar shared = s_.blocks.back();
        for (size_t i = s_.blocks.size() - 1; i-- > 0;) {
            const RVar both("shared_" + std::to_string(i));
            s_.output.update().fuse(s_.blocks[i], shared, both);
            shared = both;
        }
        s_.output.update().allow_race_conditions().parallel(shared);
    }

    // What is left of the digits, innermost first, around the loops over the tiles of a block.
    void arrange_loops() {
        std::vector<MovedLoop> rest;
        for (size_t d = s_.loops.size(); d-- > 0;) {
            const bool unrolled = std::find(s_.unrolled.begin(), s_.unrolled.end(), d) != s_.unrolled.end();
            if (!unrolled) rest.push_back(s_.loops[d]);
        }
        if (knob("order")) {
            std::stable_sort(rest.begin(), rest.end(),
                             [](const MovedLoop &a, const MovedLoop &b) { return a.read_stride < b.read_stride; });
        }
        around_.insert(around_.end(), rest.begin(), rest.end());
    }

    // The outermost loops, so many that all threads have several turns.
    void share_among_threads() {
        if (!knob("parallel")) return;
        constexpr int64_t turns = 64;
        Var shared = around_.back().variable;
        int64_t count = around_.back().extent;
        // Loops inside of the one that fetches stay with it.
        const size_t innermost = knob("ahead") ? fetching_loop() + 1 : 1;
        for (size_t i = around_.size() - 1; i-- > innermost && count < turns;) {
            Var both("shared_" + std::to_string(i));
            s_.output.fuse(around_[i].variable, shared, both);
            count *= around_[i].extent;
            shared = both;
        }
        s_.output.parallel(shared);
    }

    size_t fetching_loop() const { return knob("method") == move_transpose ? first_around_blocks : 1; }

    void fetch_ahead() {
        const Var &loop = around_[fetching_loop()].variable;
        if (knob("method") != move_transpose) {
            s_.output.prefetch(s_.operand, loop, loop, 1);
            return;
        }
        s_.fetched.compute_at(s_.output, loop);
        for (const Var &block : s_.fetched.args()) s_.fetched.bound_extent(block, 1);
    }

    void keep_in_registers(TileStage &stage, const Var &at) {
        Var vector("vector"), lane("lane");
        stage.elements.compute_at(s_.output, at)
            .store_in(MemoryType::Register)
            .bound(s_.place, 0, static_cast<int>(stage.count))
            .split(s_.place, vector, lane, static_cast<int>(stage.lanes))
            .vectorize(lane)
            .unroll(vector);
    }

    static constexpr size_t first_around_blocks = 2;  // of `around_`, where tiles come in blocks

    MoveStages &s_;
    const Candidate &candidate_;
    const ShuffleForm &form_;
    std::vector<Var> step_;          // loops of one step, vectorized or unrolled, innermost first
    std::vector<MovedLoop> around_;  // innermost first
};

}  // namespace

void apply_move_tile(MoveStages &stages, const Candidate &candidate, const ShuffleForm &form) {
    MoveTile(stages, candidate, form).apply();
}

}  // namespace kiln
