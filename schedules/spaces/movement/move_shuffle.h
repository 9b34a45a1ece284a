// The template of shuffles, for few neighbours on both sides (rewrites/shuffle_form.h): several whole vectors of one
// long digit are loaded, put in order by shuffles that are known when compiling, and stored.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rewrites/shuffle_form.h"
#include "schedules/spaces/movement/move_method.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct MoveShuffle {
    T lanes{1};       // elements of a vector of the result
    T tiles{1};       // a tile is so many times the smallest that fills vectors on both sides
    T by_operand{0};  // the other loops. 0: as the result lies in memory; 1: as the operand does
    T parallel{0};    // 1: the outer loops are shared by the threads
    T next_turn{0};   // 1: each turn of the second loop around a tile fetches what the next turn reads
};

using MoveShuffleKnobs = MoveShuffle<int64_t>;
using MoveShuffleDomains = MoveShuffle<std::vector<int64_t>>;

template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, MoveShuffle<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("rows", k.tiles);
    visit.needs("order", k.by_operand);
    visit.needs("parallel", k.parallel);
    visit.needs("ahead", k.next_turn);
}

// Elements of the long digit that one tile has.
inline int64_t shuffled_tile(const ShuffleForm &form, const MoveShuffleKnobs &knobs) {
    return form.smallest_tile(knobs.lanes) * knobs.tiles;
}

// Precondition: the movement has a shuffle form.
Alternative shuffle_space(const Movement &m, const Target &target);

// Nothing where no tile fits the tensor and the registers.
std::optional<MoveShuffleKnobs> default_shuffle(const Movement &m, const Target &target, const Core &core);

}  // namespace kiln
