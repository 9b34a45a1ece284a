// Which taps of a convolution's or pool's window meet the image, axis by axis, and which meet padding.
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

    // The results whose windows are neither in front of the image nor behind it. Only with a dilation larger than the image may some
    // of them read padding alone, too.
    int64_t first_over_image() const {
        const int64_t missing = padding.lo - (taps - 1) * dilation;
        return missing > 0 ? (missing + stride - 1) / stride : 0;
    }
    int64_t last_over_image() const {
        const int64_t room = extent - 1 + padding.lo;
        return room < 0 ? -1 : std::min(results() - 1, room / stride);
    }

    // Axes of models may be as long as integers go. More results than these are not looked at one by one.
    static constexpr int64_t most_looked_at = 1 << 16;

    // Whether some result reads padding alone, or may do so.
    bool misses_image() const {
        const int64_t first = first_over_image(), last = last_over_image();
        if (first > 0 || last < results() - 1) return true;
        if (extent >= dilation) return false;
        if (last - first >= most_looked_at) return true;
        for (int64_t result = first; result <= last; result++) {
            if (taps_of(result).count == 0) return true;
        }
        return false;
    }

    // From the first tap that some result reads the image with to the last one; one at least. Earlier results read later taps.
    TapRange used_taps() const {
        const int64_t first = first_over_image(), last = last_over_image();
        if (last < first) return {taps - 1, 1};
        const int64_t near_first = std::min(last, first + most_looked_at),
                      near_last = std::max(first, last - most_looked_at);
        int64_t early = first, late = last;
        while (early < near_first && taps_of(early).count == 0) early++;
        while (late > near_last && taps_of(late).count == 0) late--;
        const TapRange latest_taps = taps_of(early), earliest_taps = taps_of(late);
        if (latest_taps.count == 0 || earliest_taps.count == 0)
            return last - first > most_looked_at ? TapRange{0, taps} : TapRange{taps - 1, 1};
        return {earliest_taps.first, latest_taps.first + latest_taps.count - earliest_taps.first};
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

inline std::vector<WindowAxis> window_axes(const Pool &op, const Shape &x) {
    std::vector<WindowAxis> axes;
    for (size_t d = 0; d < op.strides.size(); d++) {
        const Padding padding{op.padding[d].lo, op.padding[d].hi + op.beyond[d]};
        axes.push_back({x[d + 2], op.window[d], op.strides[d], op.dilations[d], padding});
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
