// The stages between the sums of a register tile and its result (generators/requantize.h), which live in registers.
//
// Each stage is computed for the whole tile before the next one. A requantization is a long chain of instructions that wait for each
// other. Where one result comes after the other, the few dozens of instructions that a processor looks ahead are two or three chains;
// stage by stage they are those of all results.
#pragma once

#include <Halide.h>

#include <vector>

#include "rewrites/conv_loops.h"

namespace kiln {

// The results of a register tile, in vectors of `lanes` channels.
struct NumbersOfTile {
    Halide::Func output;
    Halide::Var loop;  // of the output: a tile is computed in it
    Halide::Var c, x, y;
    int lanes = 1;
    int64_t vectors = 1, columns = 1, rows = 1;
};

// Leaves `numbers` to the output's own expression where a tile may reach behind the channels, as what is read by channel ends there.
// `is_whole`: neither does it reach behind the columns and rows, or nothing is read by them.
void compute_numbers(std::vector<Halide::Func> &numbers, const NumbersOfTile &tile, const ConvLoops &loops,
                     bool is_whole);

}  // namespace kiln
