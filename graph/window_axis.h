// Which taps of a convolution's window meet the image, axis by axis, and which meet padding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/operator.h"

namespace kiln::graph {

struct TapRange {
    int64_t first = 0, count = 0;
    bool operator==(const TapRange &) const = default;
};

// A spatial axis. Pixels are counted with the holes between them.
struct WindowAxis {
    int64_t extent = 1, taps = 1, stride = 1, dilation = 1;
    Padding padding;

    int64_t results() const {
        const int64_t places = extent + padding.lo + padding.hi - (taps - 1) * dilation;
        return places > 0 ? (places - 1) / stride + 1 : 0;
    }

    // The taps of a result that read the image, or a hole in it; none where it reads padding alone.
    TapRange taps_of(int64_t result) const {
        const int64_t missing = padding.lo - result * stride;  // pixels in front of the image, from the first tap on
        const int64_t first = missing > 0 ? (missing + dilation - 1) / dilation : 0;
        const int64_t room = extent - 1 + missing;
        const int64_t last = room < 0 ? -1 : std::min(taps - 1, room / dilation);
        return {first, std::max<int64_t>(0, last - first + 1)};
    }
};

inline std::vector<WindowAxis> window_axes(const Convolution &op, const Shape &x, const Shape &weights) {
    std::vector<WindowAxis> axes;
    for (size_t d = 0; d < op.strides.size(); d++) {
        axes.push_back(
            {(x[d + 2] - 1) * op.input_dilation[d] + 1, weights[d + 2], op.strides[d], op.dilations[d], op.padding[d]});
    }
    return axes;
}

// The taps of these numbers, of an axis of weights.
inline Resample::Axis part_of_taps(size_t spatial_axis, const TapRange &taps) {
    Resample::Axis axis{static_cast<int>(spatial_axis) + 2, 1, {}, {}};
    for (int64_t t = 0; t < taps.count; t++) axis.indices.push_back(taps.first + t);
    return axis;
}

}  // namespace kiln::graph
