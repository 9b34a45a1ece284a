// Sums of products of small integers of depthwise convolutions: a unit multiplies two or four neighbouring columns of one
// channel in each lane and adds them up.
//
// A step is `parts` columns of the input, from column unit * u on. Steps of four are made of pairs, which neighbouring steps
// share where they can: the parts of one are columns 0, 2, 1, 3. Outputs that are neighbours read nearly the same columns, so
// `share` of them read the same steps, each with weights of its own: zero where a column is none of its taps.
//
//   3 taps, 4 parts, 2 outputs that share   columns   0   1   2   3
//                                           output 0  w0  w1  w2  .
//                                           output 1  .   w0  w1  w2
#pragma once

#include <cstdint>

#include "rewrites/conv_shape.h"

namespace kiln {

// The column of a part of a step, in dilations.
template<typename Index>
Index column_of_part(int64_t parts, Index part) {
    return parts == 4 ? part % 2 * 2 + part / 2 : part;
}

struct ColumnSteps {
    int64_t parts = 1, share = 1;
    int64_t groups = 1;                   // steps of a row of the kernel
    int64_t unit = 1;                     // columns from one step to the next, as they are stored
    int64_t of_output = 1, of_group = 1;  // steps from outputs that share one to the next, and from group to group

    // Pairs of a step: the first is pair step * of_step, and the other `between` behind it.
    int64_t of_step = 1, between = 1;

    // The first column of a pair. Where steps share none, each has two of its own.
    template<typename Index>
    Index first_column(const Index &pair, int dilation) const {
        const int columns = static_cast<int>(unit);
        return of_step == 1 ? pair * columns : pair / 2 * columns + pair % 2 * (2 * dilation);
    }
    // The tap of a kernel's row that a part of a group is for output `which` of those that share; may be none.
    template<typename Index>
    Index tap(const ConvShape &shape, const Index &which, const Index &group, const Index &part) const {
        return group * static_cast<int>(parts) + column_of_part(parts, part) -
               which * static_cast<int>(shape.stride[0]);
    }
    // The sum of a tile's pixels needs so many steps of a row.
    int64_t steps(int64_t pixels) const { return (pixels / share - 1) * of_output + (groups - 1) * of_group + 1; }
};

// Outputs that can share steps without more of them.
int64_t most_shared(const ConvShape &shape, int64_t parts);

ColumnSteps column_steps(const ConvShape &shape, int64_t parts, int64_t share);

}  // namespace kiln
