// Schedules of what is computed once, outside of all loops over an image: packed weights, an input that `prepare` makes, and what
// sums of integers begin with. They have no knobs.
#pragma once

#include <Halide.h>

#include <vector>

namespace kiln {

// A loop over `extent` values from 0 on.
struct KnownLoop {
    Halide::Var loop;
    int extent = 1;
};

// What the sums of each lane begin with, or what they take from weights: all of it before the first sum, in vectors of `vector` lanes,
// or of all (0).
struct FirstOfSums {
    Halide::Func first;
    KnownLoop lanes;
    std::vector<KnownLoop> around;            // the innermost first
    std::vector<Halide::VarOrRVar> in_order;  // all loops, where they are others than that
    int vector = 0;
    KnownLoop parts = {};  // of a lane, side by side
};
void apply_first(FirstOfSums sums);

// Weights in panels of vectors; `in_vectors`: where those of a vector lie side by side in the kernel, too.
void apply_panel_pack(Halide::Func packed, const KnownLoop &lanes, bool in_vectors);

// An input that is folded before: `channels` of a pixel in vectors of `lanes`, or of all where they are fewer.
struct PreparedInput {
    Halide::Func prepared;
    KnownLoop channels;
    Halide::Var rows;
    int lanes = 1;
    bool parallel = false;
};
void apply_prepare(PreparedInput input);

}  // namespace kiln
