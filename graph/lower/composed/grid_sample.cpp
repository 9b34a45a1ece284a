#include "graph/lower/composed/grid_sample.h"

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

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

Expression floor(Expression x) { return apply(Function::floor, std::move(x)); }

enum class Outside { zero, border, reflection };
enum class Mode { nearest, linear, cubic };

struct Sampling {
    Mode mode = Mode::linear;
    bool aligns_corners = false;
    Outside outside = Outside::zero;

    // How many pixels of an axis count, and the first of them, from the one at or before a place on.
    int taps() const { return mode == Mode::cubic ? 4 : mode == Mode::linear ? 2 : 1; }
    int first_tap() const { return mode == Mode::cubic ? -1 : 0; }

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

    // How much pixel `tap`, of those from first_tap() on, counts for a place: hat functions, or Keys' cubic with a = -0.75, which
    // is ONNX's.
    Expression weight(const Expression &place, int tap) const {
        const Expression behind = place - floor(place);
        if (mode == Mode::linear) return tap ? behind : number(1) - behind;
        const double a = -0.75;
        const Expression far = tap < 1 ? behind + number(-tap) : number(tap) - behind;  // from the place to the pixel
        if (tap == 0 || tap == 1) return (number(a + 2) * far - number(a + 3)) * far * far + number(1);
        return ((number(a) * far - number(5 * a)) * far + number(8 * a)) * far - number(4 * a);
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

class Places {
public:
    // `x` and `y` have an element for each place.
    Places(NodeLowering *node, const Sampling &sampling, ValueId x, ValueId y, int64_t height, int64_t width)
        : node_(*node), sampling_(sampling), height_(height), width_(width) {
        x_ = node->elementwise(sampling.pixels(operand(0), width), {x});
        y_ = node->elementwise(sampling.pixels(operand(0), height), {y});
    }

    ValueId x() const { return x_; }
    ValueId y() const { return y_; }

    // Which pixel of a plane in row-major order lies `right` and `down` of the one at the upper left, -1 for none.
    ValueId pixel(int right, int down) const {
        const Expression column = tap(operand(0), right, width_), row = tap(operand(1), down, height_);
        const auto whole = [](const Expression &place) { return scalar::cast(place, Element::i32); };
        const NumbersOf integer{Element::i32};
        const Expression index = whole(row) * integer(static_cast<double>(width_)) + whole(column);
        const Expression is_inside = apply(Function::logical_and, within(column, width_), within(row, height_));
        const ValueId pixels = node_.elementwise(select(is_inside, index, integer(-1)), {x_, y_});
        return node_.reshape(pixels, {node_.elements(pixels)});
    }

private:
    Expression tap(const Expression &place, int pixels, int64_t extent) const {
        const Expression pixel = floor(place) + number(pixels);
        return sampling_.mode == Mode::cubic ? sampling_.led_inside(pixel, extent) : pixel;
    }

    static Expression within(const Expression &place, int64_t extent) {
        const Expression is_behind_first = apply(Function::less_or_equal, number(0), place);
        return apply(Function::logical_and, is_behind_first, less(place, number(static_cast<double>(extent))));
    }

    NodeLowering &node_;
    const Sampling &sampling_;
    int64_t height_, width_;
    ValueId x_ = 0, y_ = 0;
};

// An image whose pixels lie along `axis`, with the pixels of the result there.
ValueId sampled(NodeLowering &node, const Sampling &sampling, ValueId image, int axis, const Places &places) {
    const auto pixel = [&](int right, int down) { return node.add(Gather{axis}, {image, places.pixel(right, down)}); };
    if (sampling.mode == Mode::nearest) return pixel(0, 0);
    // The pixels of each row, then the rows.
    const auto weighted = [&](ValueId place, const std::function<ValueId(int)> &value) {
        std::vector<ValueId> inputs{place};
        Expression sum;
        for (int i = 0; i < sampling.taps(); i++) {
            const int which = sampling.first_tap() + i;
            const Expression term = sampling.weight(operand(0), which) * operand(1 + i);
            sum = i == 0 ? term : sum + term;
            inputs.push_back(value(which));
        }
        return node.elementwise(sum, inputs);
    };
    return weighted(places.y(),
                    [&](int down) { return weighted(places.x(), [&](int right) { return pixel(right, down); }); });
}

// One image, 1, C, H, W, by its grid, 1, H', W', 2.
ValueId sampled_image(NodeLowering &node, const Sampling &sampling, ValueId image, ValueId grid) {
    const Shape shape = node.shape(image), places = node.shape(grid);
    const int64_t channels = shape[1], pixels = shape[2] * shape[3], count = places[1] * places[2];
    const bool has_rows = channels >= fewest_channels_in_rows;
    const auto coordinate = [&](int64_t which) {
        return node.reshape(take(node, grid, {{3, {which}}}), has_rows ? Shape{count, 1} : Shape{count});
    };
    const Places own(&node, sampling, coordinate(0), coordinate(1), shape[2], shape[3]);
    if (!has_rows) {
        const ValueId y = sampled(node, sampling, node.reshape(image, {channels, pixels}), 1, own);
        return node.reshape(y, {1, channels, places[1], places[2]});
    }
    const ValueId rows = node.reshape(node.transpose(image, {0, 2, 3, 1}), {pixels, channels});
    const ValueId y = node.reshape(sampled(node, sampling, rows, 0, own), {1, places[1], places[2], channels});
    return node.transpose(y, {0, 3, 1, 2});
}

}  // namespace

void grid_sample(NodeLowering &node) {
    const Sampling sampling = sampling_of(node.attributes);
    const ValueId x = node.input(0), grid = node.input(1);
    const Shape image = node.shape(x), places = node.shape(grid);
    if (image.size() != 4 || places.size() != 4) {
        refuse("its input has " + std::to_string(image.size()) + " axes, its grid " + std::to_string(places.size()) +
               "; kiln samples images, N, C, H, W");
    }
    if (places[3] != 2 || places[0] != image[0]) {
        reject("its grid of shape " + to_text(places) + " does not fit an input of shape " + to_text(image));
    }
    if (node.type(x) != Element::f32 || node.type(grid) != Element::f32) refuse("kiln samples f32 by f32");
    if (image[0] < 1 || image[0] > most_images)
        refuse("it samples " + std::to_string(image[0]) + " images; kiln samples 1 to " + std::to_string(most_images));
    if (image[2] == 0 || image[3] == 0) reject("its images have no pixels");
    if (image[2] > std::numeric_limits<int32_t>::max() / image[3])
        refuse("its images have more pixels than i32 counts");
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
