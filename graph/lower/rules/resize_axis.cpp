#include "graph/lower/rules/resize_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kiln::graph {
namespace {

using Coordinates = ResizeRule::Coordinates;
using Nearest = ResizeRule::Nearest;

// Where element `i` of the result lies in the input.
float coordinate(int64_t i, const ResizedAxis &a, Coordinates mode) {
    const float x = static_cast<float>(i);
    const float before = static_cast<float>(a.before), after = static_cast<float>(a.after);
    switch (mode) {
        case Coordinates::asymmetric:
            return x / a.scale;
        case Coordinates::half_pixel:
            return (x + 0.5F) / a.scale - 0.5F;
        case Coordinates::half_pixel_symmetric: {
            const float adjustment = after / (a.scale * before);
            return before / 2 * (1 - adjustment) + (x + 0.5F) / a.scale - 0.5F;
        }
        case Coordinates::pytorch_half_pixel:
            return a.after > 1 ? (x + 0.5F) / a.scale - 0.5F : 0.0F;
        case Coordinates::align_corners:
            return a.after > 1 ? x * (before - 1) / (after - 1) : 0.0F;
        case Coordinates::tf_half_pixel_for_nn:
            return (x + 0.5F) / a.scale;
        case Coordinates::tf_crop_and_resize:
            if (a.after == 1) return 0.5F * (a.start + a.end) * (before - 1);
            return a.start * (before - 1) + x * (a.end - a.start) * (before - 1) / (after - 1);
    }
    return x;
}

int64_t nearest_element(float x, float scale, Nearest mode) {
    switch (mode) {
        case Nearest::round_prefer_floor:
            return static_cast<int64_t>(x == std::floor(x) + 0.5F ? std::floor(x) : std::round(x));
        case Nearest::round_prefer_ceil:
            return static_cast<int64_t>(std::round(x));
        case Nearest::floor:
            return static_cast<int64_t>(std::floor(x));
        case Nearest::ceil:
            return static_cast<int64_t>(std::ceil(x));
        case Nearest::truncated:
            return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::trunc(x));
    }
    return 0;
}

double triangle(double distance) { return std::max(1 - std::abs(distance), 0.0); }

// Keys' cubic convolution kernel.
double cubic(double distance, double a) {
    const double x = std::abs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
    return 0;
}

// The elements that a filter reaches, with their weights, which are 1 together. Downwards, antialiasing widens it.
class Filter {
public:
    Filter(const ResizeRule &rule, float scale)
        : rule_(rule),
          squeeze_(rule.antialias ? std::min(static_cast<double>(scale), 1.0) : 1.0),
          reach_((rule.mode == ResizeRule::Mode::linear ? 1 : 2) / squeeze_),
          taps_(2 * static_cast<int>(std::ceil(reach_))) {}

    int taps() const { return taps_; }

    void append(float x, int64_t extent, Resample::Axis *axis) const {
        const int64_t first = static_cast<int64_t>(std::floor(x)) - taps_ / 2 + 1;
        const size_t begin = axis->weights.size();
        double sum = 0;
        for (int64_t i = first; i < first + taps_; i++) {
            const bool outside = i < 0 || i >= extent;
            const double weight =
                outside && rule_.exclude_outside ? 0 : weight_at((static_cast<double>(i) - x) * squeeze_);
            axis->indices.push_back(std::clamp<int64_t>(i, 0, extent - 1));
            axis->weights.push_back(weight);
            sum += weight;
        }
        for (size_t i = begin; i < axis->weights.size() && sum != 0; i++) axis->weights[i] /= sum;
    }

private:
    double weight_at(double distance) const {
        return rule_.mode == ResizeRule::Mode::linear ? triangle(distance) : cubic(distance, rule_.cubic_coefficient);
    }

    const ResizeRule &rule_;
    double squeeze_, reach_;
    int taps_;
};

}  // namespace

Resample::Axis resized(int axis, const ResizedAxis &extents, const ResizeRule &rule) {
    Resample::Axis result{.axis = axis};
    const Filter filter(rule, extents.scale);
    const bool nearest = rule.mode == ResizeRule::Mode::nearest;
    if (!nearest) result.taps = filter.taps();
    const float last = static_cast<float>(extents.before - 1);
    for (int64_t i = 0; i < extents.after; i++) {
        const float x = coordinate(i, extents, rule.coordinates);
        if (rule.coordinates == Coordinates::tf_crop_and_resize && !(x >= 0 && x <= last)) {
            result.indices.insert(result.indices.end(), result.taps, Resample::outside);
            if (!nearest) result.weights.insert(result.weights.end(), result.taps, 0);
        } else if (nearest) {
            const int64_t element = nearest_element(x, extents.scale, rule.nearest);
            result.indices.push_back(std::clamp<int64_t>(element, 0, extents.before - 1));
        } else {
            filter.append(x, extents.before, &result);
        }
    }
    return result;
}

}  // namespace kiln::graph
