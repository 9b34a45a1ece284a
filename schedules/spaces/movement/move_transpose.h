// The template of transposes: tiles of [rows] x [lanes] elements, along the operand's and the result's innermost digit,
// are loaded and stored in whole vectors, and turned in registers by interleaving halves log2(lanes) times.
#pragma once

#include <cstdint>
#include <vector>

#include "rewrites/movement.h"
#include "schedules/spaces/movement/move_method.h"
#include "workload/core.h"
#include "workload/target.h"

namespace kiln {

// Whose lines of a block are fetched, in the order of memory, before the block is moved. A store reads its line, too.
enum FetchedBlock : int64_t { fetches_no_block = 0, fetches_block_of_operand = 1, fetches_block_of_result = 2 };

// T is one value of a candidate, or the values that a space allows.
template<typename T>
struct MoveTranspose {
    T lanes{1};                         // elements of a vector of the result: a tile has so many along its digit
    T rows{1};                          // elements of a tile along the operand's digit
    T operand_first{0};                 // 1: the tiles of a block follow the operand's digit first, not the result's
    T block_read{1}, block_written{1};  // tiles of a block along the operand's and the result's digit
    T by_operand{0};                    // the other loops. 0: as the result lies in memory; 1: as the operand does
    T parallel{0};                      // 1: the outer loops are shared by the threads
    T fetched{0};                       // FetchedBlock
};

using MoveTransposeKnobs = MoveTranspose<int64_t>;
using MoveTransposeDomains = MoveTranspose<std::vector<int64_t>>;

template<typename Visitor, typename T>
void visit_knobs(Visitor &visit, MoveTranspose<T> &k) {
    visit.needs("lanes", k.lanes);
    visit.needs("rows", k.rows);
    visit.needs("inner", k.operand_first);
    visit.needs("block_read", k.block_read);
    visit.needs("block_written", k.block_written);
    visit.needs("order", k.by_operand);
    visit.needs("parallel", k.parallel);
    visit.needs("ahead", k.fetched);
}

// Whether the two sides have different neighbours, enough of them for a tile.
bool transposes(const Movement &m);

// Precondition of all that follows: transposes().
Alternative transpose_space(const Movement &m, const Target &target);

MoveTransposeKnobs default_transpose(const Movement &m, const Target &target, const Core &core);

// The side of a block that is fetched: on each digit, how many values of it a block has; in memory, `rows` runs.
struct FetchedSide {
    bool is_operand = false;
    std::vector<int64_t> block;
    int64_t rows = 1, row_stride = 0, run = 1;

    int64_t stride(const MovedDigit &digit) const { return is_operand ? digit.read_stride : digit.written_stride; }
};
// Precondition: a block is fetched.
FetchedSide fetched_side(const Movement &m, const MoveTransposeKnobs &knobs);

}  // namespace kiln
