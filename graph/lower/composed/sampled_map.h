// Maps between their pixels, at places that are computed when the network runs: what GridSample, DeformConv and RoiAlign share.
//
// A pixel is a line of elements, and gathers take the lines around each place. Outside of the map lines are zeros.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/expression.h"
#include "graph/lower/node/node_lowering.h"

namespace kiln::graph {

struct SampledMap {
    ValueId lines = 0;  // the pixels in row-major order along `axis`, the elements of a line along the other
    int axis = 0;       // 0 or 1
    Shape extents;      // of the map, outermost first
    // Along each of these axes: f32, in pixels; they are broadcast against each other and `first`.
    std::vector<ValueId> places;
    std::optional<ValueId> first;  // i32: where the map of each place begins in the lines; nothing: with the first line
    int64_t step = 1;              // from the line of a pixel to that of the next
    // The pixel that counts for one along an axis of such an extent; none: itself.
    std::function<Expression(const Expression &pixel, int64_t extent)> led_inside;
};

// The pixels around a place that count, from the one at or before it on, and how much: hat functions, unless said otherwise.
Expression linear_weight(const Expression &place, int tap);
struct Taps {
    int first = 0, count = 2;
    Expression (*weight)(const Expression &place, int tap) = linear_weight;
};

Expression floor_of(Expression x);

// The lines of the pixels that lie so far behind those at or before the places. Lines along axis 0 take the place of the last axis of
// the places, which must have one element; along axis 1 places have one axis, and the result is elements of a line x places.
ValueId lines_at(NodeLowering &node, const SampledMap &map, const std::vector<int> &behind);

// Sums of such lines by their weights, axis by axis.
ValueId interpolated(NodeLowering &node, const SampledMap &map, const Taps &taps = {});

}  // namespace kiln::graph
