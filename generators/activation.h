// The maps of rewrites as expressions: how a kernel reads an activation, wherever its elements lie.
//
// A buffer of an activation has the dimensions c in block, x, y, z, block, n (rewrites/conv_loops.h).
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/kernel_generator.h"
#include "rewrites/conv_loops.h"

namespace kiln {

using Exprs = std::vector<Halide::Expr>;

Halide::Expr value_of(const Form &form, const Exprs &indices);
Exprs values_of(const std::vector<Form> &forms, const Exprs &indices);

// Whether the place is between the first and the last of its dimension; whether it also meets no hole.
Halide::Expr is_in_range(const Place &place, const Exprs &indices);
Halide::Expr is_inside(const Place &place, const Exprs &indices);
// The index of what is stored, or of some neighbour that exists where `outside` says that there may be none.
Halide::Expr nearest(const Place &place, const Exprs &indices);

// The channel of an activation that is `in_block` of block `block`, and the other way round.
Halide::Expr channel_of(const StoredActivation &stored, const Halide::Expr &in_block, const Halide::Expr &block);
struct ChannelPlace {
    Halide::Expr in_block, block;
};
ChannelPlace place_of_channel(const StoredActivation &stored, const Halide::Expr &channel);

// How dimensions are tested for being outside.
enum class Tests {
    apart,   // each on its own
    likely,  // each on its own, and likely to hold: Halide's partition of loops gives what is inside code without tests
    together  // as one, for copies
};

inline Tests tests_of(bool partition) { return partition ? Tests::likely : Tests::apart; }

// `value`, or `otherwise` where the place of some dimension is outside and zero there.
Halide::Expr with_outside(const ElementMap &map, const Exprs &indices, Halide::Expr value,
                          const Halide::Expr &otherwise, Tests tests);
// `value`, or zero there.
Halide::Expr zero_outside(const ElementMap &map, const Exprs &indices, Halide::Expr value, Tests tests);

// The element as it is stored, or some neighbour that exists where `outside` says that there may be none.
template<typename Input>
Halide::Expr stored_element(const Input &input, const StoredActivation &stored, const ElementMap &map,
                            const Exprs &indices) {
    Exprs at;
    for (const Place &place : map) at.push_back(nearest(place, indices));
    const ChannelPlace channel = place_of_channel(stored, at[0]);
    return input(channel.in_block, at[1], at[2], at[3], channel.block, at[4]);
}

// The element at `indices` of the map, in f32.
template<typename Input>
Halide::Expr element(const Input &input, const StoredActivation &stored, const ElementMap &map, const Exprs &indices,
                     Tests tests = Tests::apart) {
    for (const Place &place : map) {
        if (place.extent == 0) return 0.0f;  // nothing is stored: the gradient of an empty result
    }
    return zero_outside(map, indices, Halide::cast<float>(stored_element(input, stored, map, indices)), tests);
}

// The element of the kernel as it is stored, (co, ci) or (ci, co), s, r, t, at `indices` of the map.
template<typename Input>
Halide::Expr kernel_element(const Input &kernel, bool hwio, const ElementMap &map, const Exprs &indices) {
    Exprs at;
    for (const Place &place : map) at.push_back(nearest(place, indices));
    return hwio ? kernel(at[0], at[1], at[2], at[3], at[4]) : kernel(at[1], at[0], at[2], at[3], at[4]);
}

template<typename BufferParameter>
void fix_kernel(BufferParameter &kernel, bool hwio, const ElementMap &map) {
    fix(kernel, {map[hwio ? 0 : 1].extent, map[hwio ? 1 : 0].extent, map[2].extent, map[3].extent, map[4].extent});
}

// Of a buffer of it: c in block, x, y, z, block, n.
inline std::vector<int64_t> extents_of(const StoredActivation &s) {
    return {s.block, s.space[0], s.space[1], s.space[2], (s.channels + s.block - 1) / s.block, s.images};
}

template<typename BufferParameter>
void fix_activation(BufferParameter &buffer, const StoredActivation &s) {
    fix(buffer, extents_of(s));
}

}  // namespace kiln
