// Which elements along one axis a resized one is made of, and how much of each.
//
// ONNX says the formulas; where a coordinate lies on the border between two elements, its rounding decides. So coordinates are
// computed in float, with the operations of ONNX Runtime, whose choice is what models are tested with.
#pragma once

#include <string>

#include "graph/operator.h"

namespace kiln::graph {

struct ResizeRule {
    enum class Mode { nearest, linear, cubic } mode = Mode::nearest;
    enum class Coordinates {
        asymmetric,
        half_pixel,
        half_pixel_symmetric,
        pytorch_half_pixel,
        align_corners,
        tf_half_pixel_for_nn,
        tf_crop_and_resize,
    } coordinates = Coordinates::half_pixel;
    enum class Nearest {
        round_prefer_floor,
        round_prefer_ceil,
        floor,
        ceil,
        truncated,  // of opset 10: upwards where the axis becomes shorter
    } nearest = Nearest::round_prefer_floor;
    float cubic_coefficient = -0.75F;
    bool exclude_outside = false;  // weights of what lies outside are left out, not given to the border
    bool antialias = false;
};

struct ResizedAxis {
    int64_t before = 1, after = 1;  // extents
    float scale = 1;
    float start = 0, end = 1;  // the part that tf_crop_and_resize takes
};

// Precondition: both extents are positive, and the scale is.
Resample::Axis resized(int axis, const ResizedAxis &extents, const ResizeRule &rule);

}  // namespace kiln::graph
