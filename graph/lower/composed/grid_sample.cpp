#include "graph/lower/composed/grid_sample.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/composed/sampled_map.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

// Each image is a gather of its own.
constexpr int64_t most_images = 64;

// From here on channels side by side are gathered as vectors; fewer are taken plane by plane, as an image lies in ONNX.
constexpr int64_t fewest_channels_in_rows = 8;

const NumbersOf number{};

enum class Outside { zero, border, reflection };
enum class Mode { nearest, linear, cubic };

struct Sampling {
    Mode mode = Mode::linear;
    bool aligns_corners = false;
    Outside outside = Outside::zero;

    // The place on an axis in pixels, of one from -1 to 1.
    Expression pixels(const Expression &place, int64_t count) const {
        const double extent = static_cast<double>(count), last = extent - 1;
        Expression x = aligns_corners ? (place + number(1)) * number(last / 2)
                                      : ((place + number(1)) * number(extent) - number(1)) * number(0.5);
        if (mode == Mode::nearest) x = apply(Function::round, x);
        // The four pixels of a cubic are led back inside one by one.
        return mode == Mode::cubic ? x : led_inside(x, count);
    }

    // The place inside of the image that stands for one outside.
    Expression led_inside(Expression x, int64_t count) const {
        const double extent = static_cast<double>(count), last = extent - 1;
        if (outside == Outside::reflection)
            x = reflected(x, aligns_corners ? 0 : -0.5, aligns_corners ? last : extent - 0.5);
        if (outside != Outside::zero) x = least(greatest(x, number(0)), number(last));
        return x;
    }

    static Expression reflected(const Expression &x, double low, double high) {
        const double length = high - low;
        if (length == 0) return number(low);
        const Expression inside = apply(Function::remainder, absolute(x - number(low)), number(2 * length));
        return number(low) + select(less(number(length), inside), number(2 * length) - inside, inside);
    }
};

Sampling sampling_of(const Attributes &attributes) {
    Sampling sampling;
    const std::string mode = attributes.text("mode", "linear"), padding = attributes.text("padding_mode", "zeros");
    if (padding == "border") sampling.outside = Outside::border;
    if (padding == "reflection") sampling.outside = Outside::reflection;
    if (mode != "linear" && mode != "bilinear" && mode != "nearest" && mode != "cubic" && mode != "bicubic") {
        reject("its mode is " + shown(mode) + ", which must be linear, nearest or cubic");
    }
    if (sampling.outside == Outside::zero && padding != "zeros") {
        reject("its attribute 'padding_mode' is " + shown(padding) + ", which must be zeros, border or reflection");
    }
    if (mode == "nearest") sampling.mode = Mode::nearest;
    if (mode == "cubic" || mode == "bicubic") sampling.mode = Mode::cubic;
    sampling.aligns_corners = attributes.flag("align_corners", false);
    return sampling;
}

// How much pixel `tap`, counted from the one at or before a place, counts there: Keys' cubic with a = -0.75, which is ONNX's.
Expression cubic_weight(const Expression &place, int tap) {
    const double a = -0.75;
    const Expression behind = place - floor_of(place);
    const Expression far = tap < 1 ? behind + number(-tap) : number(tap) - behind;  // from the place to the pixel
    if (tap == 0 || tap == 1) return (number(a + 2) * far - number(a + 3)) * far * far + number(1);
    return ((number(a) * far - number(5 * a)) * far + number(8 * a)) * far - number(4 * a);
}

ValueId sampled(NodeLowering &node, Mode mode, const SampledMap &map) {
    if (mode == Mode::nearest) return lines_at(node, map, std::vector<int>(map.extents.size(), 0));
    return interpolated(node, map, mode == Mode::cubic ? Taps{-1, 4, cubic_weight} : Taps{});
}

// One image or volume, 1, C, spatial..., by its grid, 1, spatial'..., axes.
ValueId sampled_image(NodeLowering &node, const Sampling &sampling, ValueId image, ValueId grid) {
    const Shape shape = node.shape(image), places = node.shape(grid);
    const int last = static_cast<int>(places.size()) - 1;
    const int64_t channels = shape[1], count = node.elements(grid) / places.back();
    const bool has_rows = channels >= fewest_channels_in_rows;
    SampledMap map{.axis = has_rows ? 0 : 1, .extents = {shape.begin() + 2, shape.end()}};
    if (sampling.mode == Mode::cubic)
        map.led_inside = [&](const Expression &pixel, int64_t extent) { return sampling.led_inside(pixel, extent); };
    for (size_t d = 0; d < map.extents.size(); d++) {
        // A grid has x in front of y, and y in front of z.
        const ValueId along = take(node, grid, {{last, {places.back() - 1 - static_cast<int64_t>(d)}}});
        const ValueId coordinate = node.reshape(along, has_rows ? Shape{count, 1} : Shape{count});
        map.places.push_back(node.elementwise(sampling.pixels(operand(0), map.extents[d]), {coordinate}));
    }
    const int64_t pixels = checked_count(map.extents);
    Shape result(places.begin(), places.end() - 1);
    if (!has_rows) {
        map.lines = node.reshape(image, {channels, pixels});
        result.insert(result.begin() + 1, channels);
        return node.reshape(sampled(node, sampling.mode, map), result);
    }
    std::vector<int> with_channels_last(shape.size()), with_channels_second(shape.size());
    std::iota(with_channels_last.begin(), with_channels_last.end(), 0);
    std::rotate(with_channels_last.begin() + 1, with_channels_last.begin() + 2, with_channels_last.end());
    std::iota(with_channels_second.begin(), with_channels_second.end(), 0);
    std::rotate(with_channels_second.begin() + 1, with_channels_second.end() - 1, with_channels_second.end());
    map.lines = node.reshape(node.transpose(image, with_channels_last), {pixels, channels});
    result.push_back(channels);
    return node.transpose(node.reshape(sampled(node, sampling.mode, map), result), with_channels_second);
}

}  // namespace

void grid_sample(NodeLowering &node) {
    node.compute_in_f32({node.type(node.input(0))});
    const Sampling sampling = sampling_of(node.attributes);
    const ValueId x = node.input(0), grid = node.input(1);
    const Shape image = node.shape(x), places = node.shape(grid);
    const size_t axes = image.size() - 2;
    if ((image.size() != 4 && image.size() != 5) || places.size() != image.size()) {
        refuse("its input has " + std::to_string(image.size()) + " axes, its grid " + std::to_string(places.size()) +
               "; kiln samples images, N, C, H, W, and volumes, N, C, D, H, W");
    }
    if (places.back() != static_cast<int64_t>(axes) || places[0] != image[0]) {
        reject("its grid of shape " + to_text(places) + " does not fit an input of shape " + to_text(image));
    }
    if (sampling.mode == Mode::cubic && axes != 2)
        refuse("its mode is cubic; kiln samples volumes by linear and nearest");
    if (node.type(x) != Element::f32 || node.type(grid) != Element::f32) refuse("kiln samples f32 by f32");
    if (image[0] < 1 || image[0] > most_images)
        refuse("it samples " + std::to_string(image[0]) + " images; kiln samples 1 to " + std::to_string(most_images));
    const int64_t pixels = checked_count({image.begin() + 2, image.end()});
    if (pixels == 0) reject("its images have no pixels");
    if (pixels > std::numeric_limits<int32_t>::max()) refuse("its images have more pixels than i32 counts");
    if (image[0] == 1) return node.result(sampled_image(node, sampling, x, grid));
    std::vector<ValueId> results;
    for (int64_t n = 0; n < image[0]; n++) {
        results.push_back(sampled_image(node, sampling, take(node, x, {{0, {n}}}), take(node, grid, {{0, {n}}})));
    }
    node.result(node.add(Concat{0}, results));
}

void affine_grid(NodeLowering &node) {
    const ValueId maps = node.input(0);
    const Shape size = node.known_integers(1, "size");
    const auto axes = static_cast<int64_t>(size.size()) - 2;
    if ((axes != 2 && axes != 3) || node.shape(maps) != Shape{size[0], axes, axes + 1}) {
        reject("its maps of shape " + to_text(node.shape(maps)) + " do not fit a size of " + to_text(size));
    }
    const Shape extents(size.begin() + 2, size.end());
    if (!is_float(node.type(maps))) reject("its maps are " + std::string(name(node.type(maps))) + ", not floats");
    const int64_t count = value_or_refusal(element_count(extents));
    if (count > most_places / (axes + 1)) refuse("its grid has more places than kiln computes beforehand");
    node.check_room({count, axes + 1});
    const bool aligns_corners = node.attributes.flag("align_corners", false);
    std::vector<double> places;  // x, y, z and 1 of each
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        for (size_t axis = extents.size(); axis-- > 0;) {
            const auto place = static_cast<double>(rest % extents[axis]), extent = static_cast<double>(extents[axis]);
            rest /= extents[axis];
            const double aligned = extent > 1 ? 2 * place / (extent - 1) - 1 : 0;
            places.push_back(aligns_corners ? aligned : (2 * place + 1) / extent - 1);
        }
        places.push_back(1);
    }
    const ValueId grid = node.constant({{node.type(maps), {count, axes + 1}}, std::move(places)});
    const ValueId moved = node.add(MatrixProduct{}, {grid, node.transpose(maps, {0, 2, 1})});
    Shape result = extents;
    result.insert(result.begin(), size[0]);
    result.push_back(axes);
    node.result(node.reshape(moved, result));
}

}  // namespace kiln::graph
