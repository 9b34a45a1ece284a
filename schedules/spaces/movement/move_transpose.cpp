#include "schedules/spaces/movement/move_transpose.h"

#include <algorithm>
#include <bit>

#include "schedules/spaces/movement/cache_fit.h"

namespace kiln {
namespace {

constexpr int64_t fewest_transposed = 4, largest_tile = 1024;
constexpr int64_t line_bytes = 64;
// Bytes: rows of a matrix are cut beyond, and no longer walked as one below.
constexpr int64_t longest_run = 2048, shortest_run = 1024;

const MovedDigit &read_digit(const Movement &m) { return m.digits[read_neighbours(m)]; }

int64_t bit_floor(int64_t value) { return static_cast<int64_t>(std::bit_floor(uint64_t(value))); }

// A block of a quarter of L2 with all of the shorter digit, cut to rows of longest_run.
void shape_far_block(const Movement &m, const Core &core, MoveTransposeKnobs *k) {
    const MovedDigit &read = read_digit(m), &written = m.digits.back();
    const int bytes = m.element_bytes;
    const int64_t room = quarter_of_l2(core), longest = longest_run / bytes;
    if (written.extent < read.extent) {
        const int64_t run = std::min(written.extent, longest);
        k->block_written = tiles_that_cover(run, k->lanes);
        k->block_read = tiles_that_fit(room, k->rows, run * bytes);
    } else {
        const int64_t run = std::min(read.extent, longest);
        k->block_read = tiles_that_cover(run, k->rows);
        k->block_written = tiles_that_fit(room, k->lanes, run * bytes);
    }
}

// Beyond the caches it counts how memory is walked, for loads as for stores, which read a line before they write it:
// few rows at a time, for long. One side has the shorter digit: a block with all of that digit is one run there and is
// fetched as such, then the other side is walked along its long rows, a line of it at a time.
void shape_far_tiles(const Movement &m, int64_t most_lanes, const Core &core, MoveTransposeKnobs *k) {
    const MovedDigit &read = read_digit(m), &written = m.digits.back();
    const int bytes = m.element_bytes;
    const bool rows_of_result = written.extent < read.extent, narrow = bytes < 4;
    const int64_t line = rows_of_result && narrow ? line_bytes / 2 : line_bytes;
    k->lanes = bit_floor(std::min({most_lanes, line / bytes, written.extent}));
    k->rows = bit_floor(std::min<int64_t>(narrow ? 16 : 8, read.extent));
    shape_far_block(m, core, k);
    k->operand_first = rows_of_result && !narrow;
    k->fetched = rows_of_result ? fetches_block_of_result : fetches_block_of_operand;
    const FetchedSide side = fetched_side(m, *k);
    if (side.run != side.row_stride && side.run * bytes < shortest_run) k->fetched = fetches_no_block;
    if (rows_of_result && narrow) {
        // So many rows that parts of a fetched line are gone before the others are written: a line of each is fetched.
        k->block_read = tiles_that_cover(line_bytes / bytes, k->rows);
        k->fetched = fetches_block_of_operand;
    }
    if (k->block_read * k->block_written == 1) k->fetched = fetches_no_block;
}

}  // namespace

bool transposes(const Movement &m) {
    const int read = read_neighbours(m), written = static_cast<int>(m.digits.size()) - 1;
    return m.is_regular && read >= 0 && read != written && m.digits[read].extent >= fewest_transposed &&
           m.digits[written].extent >= fewest_transposed;
}

Alternative transpose_space(const Movement &m, const Target &target) {
    const MoveTransposeDomains domains = {
        .lanes = powers_of_two(1, most_lanes(m, target)),
        .rows = powers_of_two(1, 32),
        .operand_first = {0, 1},
        .block_read = powers_of_two(1, longest_block),
        .block_written = powers_of_two(1, longest_block),
        .by_operand = {0, 1},
        .parallel = thread_choices(target),
        .fetched = {fetches_no_block, fetches_block_of_operand, fetches_block_of_result},
    };
    const int64_t read = read_digit(m).extent, written = m.digits.back().extent;
    using K = MoveTransposeKnobs;
    return move_alternative(
        move_transpose, knob_list(domains),
        constraint<K>({
            {"a tile is larger than the tensor", [=](const K &k) { return k.rows <= read && k.lanes <= written; }},
            {"only blocks of several tiles are fetched ahead",
             [](const K &k) { return !k.fetched || k.block_read * k.block_written > 1; }},
            {"a tile of this size is too much code", [](const K &k) { return k.rows * k.lanes <= largest_tile; }},
        }));
}

// Stores of half a vector register, 32 bytes with AVX-512, turn f32 fastest: two shuffles start in a cycle.
MoveTransposeKnobs default_transpose(const Movement &m, const Target &target, const Core &core) {
    const int64_t half = std::clamp<int64_t>(most_lanes(m, target) / 2, 1, 16);
    MoveTransposeKnobs knobs{.lanes = bit_floor(std::min(half, m.digits.back().extent)),
                             .rows = bit_floor(std::min(half, read_digit(m).extent)),
                             .block_written = longest_block,
                             .parallel = target.threads > 1};
    if (is_far(m, core)) shape_far_tiles(m, most_lanes(m, target), core, &knobs);
    return knobs;
}

FetchedSide fetched_side(const Movement &m, const MoveTransposeKnobs &k) {
    const size_t read = read_neighbours(m), written = m.digits.size() - 1;
    FetchedSide side{k.fetched == fetches_block_of_operand, std::vector<int64_t>(m.digits.size(), 1)};
    side.block[read] = k.rows * k.block_read;
    side.block[written] = k.lanes * k.block_written;
    const size_t inner = side.is_operand ? read : written, outer = side.is_operand ? written : read;
    side.run = std::min(side.block[inner], m.digits[inner].extent);
    side.rows = std::min(side.block[outer], m.digits[outer].extent);
    side.row_stride = side.stride(m.digits[outer]);
    return side;
}

}  // namespace kiln
