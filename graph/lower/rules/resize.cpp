// Resize, Upsample, GridSample and AffineGrid.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "graph/lower/composed/grid_sample.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/resize_axis.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

using Mode = ResizeRule::Mode;
using Coordinates = ResizeRule::Coordinates;
using Nearest = ResizeRule::Nearest;

template<typename T, size_t count>
T choice(const Attributes &attributes, const char *name, const char *absent,
         const std::pair<std::string_view, T> (&values)[count]) {
    const std::string text = attributes.text(name, absent);
    std::string known;
    for (const auto &[word, value] : values) {
        if (text == word) return value;
        known += (known.empty() ? "" : ", ") + std::string(word);
    }
    reject("its attribute " + shown(name) + " is " + shown(text) + ", which must be one of " + known);
}

Mode mode_of(const Attributes &attributes) {
    return choice<Mode>(
        attributes, "mode", "nearest",
        {{"nearest", Mode::nearest}, {"linear", Mode::linear}, {"bilinear", Mode::linear}, {"cubic", Mode::cubic}});
}

// What Resize of opset 10 and Upsample do.
ResizeRule simple_rule(const NodeLowering &node) {
    const Mode mode = mode_of(node.attributes);
    if (mode == Mode::cubic) reject("its attribute 'mode' is 'cubic', which begins with opset 11");
    return {.mode = mode, .coordinates = Coordinates::asymmetric, .nearest = Nearest::truncated};
}

ResizeRule rule_of(const NodeLowering &node) {
    const Attributes &a = node.attributes;
    ResizeRule rule{.mode = mode_of(a)};
    rule.coordinates = choice<Coordinates>(a, "coordinate_transformation_mode", "half_pixel",
                                           {{"asymmetric", Coordinates::asymmetric},
                                            {"half_pixel", Coordinates::half_pixel},
                                            {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
                                            {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
                                            {"align_corners", Coordinates::align_corners},
                                            {"tf_half_pixel_for_nn", Coordinates::tf_half_pixel_for_nn},
                                            {"tf_crop_and_resize", Coordinates::tf_crop_and_resize}});
    rule.nearest = choice<Nearest>(a, "nearest_mode", "round_prefer_floor",
                                   {{"round_prefer_floor", Nearest::round_prefer_floor},
                                    {"round_prefer_ceil", Nearest::round_prefer_ceil},
                                    {"floor", Nearest::floor},
                                    {"ceil", Nearest::ceil}});
    rule.cubic_coefficient = static_cast<float>(a.real("cubic_coeff_a", -0.75));
    rule.exclude_outside = a.flag("exclude_outside", false);
    rule.antialias = a.flag("antialias", false);
    return rule;
}

constexpr float largest_scale = 16777216;

// Throws where no extent comes of it.
int64_t extent_of(double extent) {
    if (!(extent >= 0 && extent <= static_cast<double>(most_places)))
        refuse("it makes an axis of " + std::to_string(extent) + " elements");
    return static_cast<int64_t>(extent);
}

// By scales: the product is cut off, in float as ONNX Runtime computes it. Contrary to ONNX's text, neither that nor ONNX's own
// reference shortens the result by the part that tf_crop_and_resize takes.
void scale(ResizedAxis *axis, double scale) {
    axis->scale = static_cast<float>(scale);
    if (!(axis->scale > 0 && axis->scale <= largest_scale)) reject("it has a scale of " + std::to_string(scale));
    axis->after = extent_of(std::floor(axis->scale * static_cast<float>(axis->before)));
}

// By sizes: the scale follows from them; one for all axes where the aspect ratio is kept.
void set_sizes(const NodeLowering &node, const std::vector<int64_t> &sizes, std::vector<ResizedAxis> *axes) {
    for (size_t i = 0; i < sizes.size(); i++) {
        ResizedAxis &axis = (*axes)[i];
        axis.after = extent_of(static_cast<double>(sizes[i]));
        axis.scale = static_cast<float>(axis.after) / static_cast<float>(axis.before);
    }
    const std::string policy = node.attributes.text("keep_aspect_ratio_policy", "stretch");
    if (policy == "stretch" || axes->empty()) return;
    if (policy != "not_larger" && policy != "not_smaller")
        reject("its attribute 'keep_aspect_ratio_policy' is " + shown(policy));
    const auto by_scale = [](const ResizedAxis &a, const ResizedAxis &b) { return a.scale < b.scale; };
    const auto [least, most] = std::minmax_element(axes->begin(), axes->end(), by_scale);
    const float common = policy == "not_larger" ? least->scale : most->scale;
    for (ResizedAxis &axis : *axes) {
        axis.scale = common;
        axis.after = extent_of(std::floor(static_cast<double>(common * static_cast<float>(axis.before)) + 0.5));
    }
}

std::vector<int64_t> stated_axes(const NodeLowering &node) {
    std::vector<int64_t> axes = node.attributes.integers("axes");
    if (axes.empty()) {
        axes.resize(node.rank(node.input(0)));
        std::iota(axes.begin(), axes.end(), 0);
    }
    axes_of(axes, node.rank(node.input(0)));  // none twice
    return axes;
}

void check_count(size_t count, size_t axes, const char *name) {
    if (count == axes) return;
    reject("its input " + shown(name) + " has " + std::to_string(count) + " elements for " + std::to_string(axes) +
           " axes");
}

// Axes that keep their elements are left out.
ValueId resample(NodeLowering &node, const std::vector<int64_t> &axes, const std::vector<ResizedAxis> &extents,
                 const ResizeRule &rule) {
    const ValueId x = node.input(0);
    Shape result = node.shape(x);
    for (size_t i = 0; i < axes.size(); i++) result[axis_of(axes[i], node.rank(x))] = extents[i].after;
    check_size(result);
    Resample op{.fill = node.attributes.real("extrapolation_value", 0)};
    for (size_t i = 0; i < axes.size(); i++) {
        const ResizedAxis &e = extents[i];
        const bool crops = rule.coordinates == Coordinates::tf_crop_and_resize && (e.start != 0 || e.end != 1);
        if (e.before == e.after && e.scale == 1 && !crops) continue;
        if (e.before == 0 && e.after > 0) reject("it has no element to repeat");
        const double taps = rule.mode == Mode::nearest ? 1 : 4 / std::min(e.scale, 1.0F);
        if (taps * static_cast<double>(e.after) > static_cast<double>(most_places)) refuse("its filter is too wide");
        // An axis without elements has no filter, whose width may be beyond any integer.
        const int axis = axis_of(axes[i], node.rank(x));
        op.axes.push_back(e.after == 0 ? Resample::Axis{.axis = axis} : resized(axis, e, rule));
    }
    std::ranges::sort(op.axes, {}, &Resample::Axis::axis);
    if (op.axes.empty()) return x;
    const Element type = node.type(x);
    const bool is_weighted = std::ranges::any_of(op.axes, [](const auto &axis) { return !axis.weights.empty(); });
    if (is_float(type) || !is_weighted) return node.add(std::move(op), {x});
    // Sums are of floats; what is cut off of them is what a cast cuts off.
    return node.converted(node.add(std::move(op), {node.converted(x, Element::f32)}), type);
}

std::vector<ResizedAxis> axes_before(const NodeLowering &node, const std::vector<int64_t> &axes) {
    const Shape shape = node.shape(node.input(0));
    std::vector<ResizedAxis> result;
    for (const int64_t axis : axes) {
        const int64_t extent = shape[axis_of(axis, node.rank(node.input(0)))];
        result.push_back({.before = extent, .after = extent});
    }
    return result;
}

void read_part(const NodeLowering &node, std::vector<ResizedAxis> *axes) {
    const std::vector<double> roi = node.known_reals(1, "roi");
    check_count(roi.size(), 2 * axes->size(), "roi");
    for (size_t i = 0; i < axes->size(); i++) {
        (*axes)[i].start = static_cast<float>(roi[i]);
        (*axes)[i].end = static_cast<float>(roi[i + axes->size()]);
    }
}

// Inputs: x, roi, scales, sizes; one of the last two is missing or has no element.
void resize(NodeLowering &node) {
    const ResizeRule rule = rule_of(node);
    const std::vector<int64_t> axes = stated_axes(node);
    std::vector<ResizedAxis> extents = axes_before(node, axes);
    const bool crops = rule.coordinates == Coordinates::tf_crop_and_resize;
    if (crops) read_part(node, &extents);
    const auto sizes = node.has_input(3) ? node.known_integers(3, "sizes") : std::vector<int64_t>();
    if (!sizes.empty()) {
        check_count(sizes.size(), axes.size(), "sizes");
        set_sizes(node, sizes, &extents);
    } else {
        const auto scales = node.has_input(2) ? node.known_reals(2, "scales") : std::vector<double>();
        check_count(scales.size(), axes.size(), "scales");
        for (size_t i = 0; i < axes.size(); i++) scale(&extents[i], scales[i]);
    }
    node.result(resample(node, axes, extents, rule));
}

void resize_by_scales(NodeLowering &node, const std::vector<double> &scales) {
    const std::vector<int64_t> axes = stated_axes(node);
    check_count(scales.size(), axes.size(), "scales");
    std::vector<ResizedAxis> extents = axes_before(node, axes);
    for (size_t i = 0; i < axes.size(); i++) scale(&extents[i], scales[i]);
    node.result(resample(node, axes, extents, simple_rule(node)));
}

void resize_of_opset_10(NodeLowering &node) { resize_by_scales(node, node.known_reals(1, "scales")); }

void upsample_of_opset_7(NodeLowering &node) { resize_by_scales(node, node.attributes.reals("scales")); }

void upsample_of_opset_1(NodeLowering &node) {
    resize_by_scales(node, {1, 1, node.attributes.real("height_scale"), node.attributes.real("width_scale")});
}

constexpr std::string_view since_11 =
    "coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value mode nearest_mode";
constexpr std::string_view since_18 =
    "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside extrapolation_value "
    "keep_aspect_ratio_policy mode nearest_mode";

constexpr Rule rows_of_resize[] = {
    {"AffineGrid", 20, {2, 2}, 1, "align_corners", affine_grid},
    {"GridSample", 16, {2, 2}, 1, "align_corners mode padding_mode", grid_sample},
    {"Resize", 10, {2, 2}, 1, "mode", resize_of_opset_10},
    {"Resize", 11, {3, 4}, 1, since_11, resize},
    {"Resize", 13, {1, 4}, 1, since_11, resize},
    {"Resize", 18, {1, 4}, 1, since_18, resize},
    {"Upsample", 1, {1, 1}, 1, "height_scale mode width_scale", upsample_of_opset_1},
    {"Upsample", 7, {1, 1}, 1, "mode scales", upsample_of_opset_7},
    {"Upsample", 9, {2, 2}, 1, "mode", resize_of_opset_10},
};

}  // namespace

std::span<const Rule> resize_rules() { return rows_of_resize; }

}  // namespace kiln::graph
