// The knobs of the schedule template `move_tile`: data movement as a permutation of digits (rewrites/movement.h).
// schedules/apply/move_tile.h applies them; this half is std only, so the tuner can search it without Halide.
//
//   method   0 rows: vectors along the result's innermost digit, loaded as they come
//            1 transpose: tiles of [rows] x [lanes] elements, along the operand's and the result's innermost digit,
//              are loaded and stored in whole vectors, and turned in registers by interleaving halves log2(lanes) times
//            2 shuffle: for few neighbours on both sides (three channels, the pixels of a block): several whole vectors
//              of one long digit are loaded, put in order by shuffles that are known when compiling, and stored
//            3 stream: blocks of a matrix are transposed by stores past the caches (schedules/spaces/matrix_form.h),
//            for
//              results that do not stay in a cache; tiles have a cache line's elements on both sides
//            4 matrix: the same by plain stores
//   lanes    elements of a vector of the result; 3, 4: 1
//   rows     1: rows of a tile; 2: the tile is [rows] times the smallest that fills vectors on both sides; 3, 4: 1
//   inner    1: the tiles of a block follow the operand's digit first, not the result's
//   block_read, block_written   1, 3, 4: tiles a block has along the operand's and the result's digit
//   ahead    1: before a block is moved, all its lines are fetched in the order of memory: 0 no, 1 of the operand, 2 of
//            the result, whose lines a store reads too
//            0, 2: with each turn of the second loop around a tile is fetched: 0 nothing, 1 what the next reads
//            3, 4: with each tile is fetched: 0 nothing, 1 what follows in the operand's rows, 2 a share of the next
//            block
//   order    of the other loops: 0 as the result lies in memory, 1 as the operand
//   parallel 1: the outer loops are shared by the threads
#pragma once

#include "rewrites/movement.h"
#include "schedules/space.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *move_tile_name = "move_tile";
inline constexpr int move_tile_version = 1;

enum MoveMethod : int64_t { move_rows = 0, move_transpose = 1, move_shuffle = 2, move_stream = 3, move_matrix = 4 };

// How `shuffle` sees a movement: tiles along the digit `along`, the digits that are further inside on either side all
// of a tile. On each side it is a number of rows, each of `stride` elements for a step of `along`.
struct ShuffleForm {
    int along = -1;  // index of a digit; -1: there is no such form
    int64_t read_rows = 1, read_stride = 1, written_rows = 1, written_stride = 1;
    std::vector<int> small;  // the other digits of a tile, by index

    size_t loops() const;  // over tiles
    // Elements of `along` that one tile has, at least: both sides are whole vectors.
    int64_t smallest_tile(int64_t lanes) const;
};
ShuffleForm shuffle_form(const Movement &m);

// The digit along which the operand's elements are neighbours; -1 where there is none.
int read_neighbours(const Movement &m);

// The side of a block that `ahead` fetches: on each digit, how many values of it a block has; in memory, `rows` runs.
struct FetchedSide {
    bool is_operand = false;
    std::vector<int64_t> block;
    int64_t rows = 1, row_stride = 0, run = 1;

    int64_t stride(const MovedDigit &digit) const { return is_operand ? digit.read_stride : digit.written_stride; }
};
// Precondition: knobs of method transpose with `ahead`.
FetchedSide fetched_side(const Movement &m, const Knobs &knobs);

// `base` has the algorithm's name and version. The default knobs are a function of the arguments alone.
Space move_tile_space(Candidate base, const Movement &movement, const Target &target, const Machine &machine);

}  // namespace kiln
