// The template of rows: vectors along the result's innermost digit, loaded as they come.
#pragma once

#include <cstdint>
#include <vector>

#include "rewrites/movement.h"
#include "schedules/spaces/movement/move_method.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct MoveRows {
    T lanes{1};       // elements of a vector
    T by_operand{0};  // the other loops. 0: as the result lies in memory; 1: as the operand does
    T parallel{0};    // 1: the outer loops are shared by the threads
    T next_turn{0};   // 1: each turn of the second loop around a vector fetches what the next turn reads
};

using MoveRowsKnobs = MoveRows<int64_t>;
using MoveRowsDomains = MoveRows<std::vector<int64_t>>;

template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, MoveRows<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("order", k.by_operand);
    visit.needs("parallel", k.parallel);
    visit.needs("ahead", k.next_turn);
}

Alternative rows_space(const Movement &m, const Target &target);

MoveRowsKnobs default_rows(const Movement &m, const Target &target, const Core &core);

}  // namespace kiln
