// What the templates of movement have in common: the loops, and tiles in registers.
#pragma once

#include <Halide.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kiln {

// A loop of the output over one digit, or over what a tile leaves of it.
struct MovedLoop {
    Halide::Var variable;
    int64_t extent = 1, read_stride = 0;
};

// A stage of one tile, over its elements from 0 on, kept in vectors of `lanes` elements.
struct TileStage {
    Halide::Func elements;
    int64_t lanes = 1, count = 0;
};

// A tile on its way through registers: what is loaded, then what shuffles make of it.
struct MovedTile {
    Halide::Var place;  // the dimension of the stages that counts elements
    std::vector<TileStage> stages;
};

// The output with its loops as the result lies in memory, outermost first.
struct MovedOutput {
    Halide::Func function;
    std::vector<MovedLoop> loops;
};

// Loops from the inside, in the order of the operand's memory or of the result's, which they come in.
std::vector<MovedLoop> loops_from_inside(std::vector<MovedLoop> loops, bool by_operand);

// `step` are the loops of one step, vectorized or unrolled, `around` all others, both innermost first.
void nest_loops(Halide::Func output, const std::vector<Halide::Var> &step, const std::vector<MovedLoop> &around);

// The threads share as many of the outermost loops as give each thread several turns, but none inside of
// around[innermost].
void share_among_threads(Halide::Func output, const std::vector<MovedLoop> &around, size_t innermost = 1);

void keep_in_registers(const MovedTile &tile, Halide::Func output, const Halide::Var &at);

}  // namespace kiln
