// The template of matrices: blocks of a matrix, each transposed by a call of a function of the runtime, by plain stores
// or past the caches, for results that do not stay in a cache. Tiles have a cache line's elements on both sides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/spaces/movement/matrix_form.h"
#include "schedules/spaces/movement/move_method.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct MoveMatrix {
    T block_read{1}, block_written{1};  // tiles of a block along the operand's and the result's digit
    T by_operand{0};  // the loops over blocks. 0: as the result lies in memory; 1: as the operand does
    T parallel{0};    // 1: blocks are shared by the threads
    T fetched{0};     // with each tile: TransposeFetch of runtime/transpose/matrix_transpose.h
};

using MoveMatrixKnobs = MoveMatrix<int64_t>;
using MoveMatrixDomains = MoveMatrix<std::vector<int64_t>>;

template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, MoveMatrix<T> &k) {
    visit.needs("block_read", k.block_read);
    visit.needs("block_written", k.block_written);
    visit.needs("order", k.by_operand);
    visit.needs("parallel", k.parallel);
    visit.needs("ahead", k.fetched);
}

// Whether a result may be stored past the caches: whole lines, which no cache keeps.
bool may_stream(const Movement &m, const MatrixForm &form);

// Precondition of all that follows: the movement has a matrix form.
// `method`: move_matrix, or move_stream where may_stream().
Alternative matrix_space(MoveMethod method, const Movement &m, const Target &target);

MoveMatrixKnobs default_matrix(const Movement &m, const Target &target, const Core &core);
MoveMatrixKnobs default_stream(const Movement &m, const Target &target, const Core &core);

// Elements of a block: whole lines, or all there are.
struct MatrixBlock {
    int64_t rows = 0, columns = 0;
};
MatrixBlock matrix_block(const MatrixForm &form, const MoveMatrixKnobs &knobs);

// Loops over blocks, by index of their digits, innermost first.
std::vector<int> matrix_order(const Movement &m, const MoveMatrixKnobs &knobs);

// The function of runtime/transpose/matrix_transpose.h for a target.
std::string transpose_function(const Target &target);

}  // namespace kiln
