#include "graph/lower/composed/roi_align.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
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

// How many samples a bin has along one axis.
struct BinSamples {
    int64_t most = 1;         // of any region: all are computed for so many
    std::vector<double> own;  // of each region, whose other samples do not count; empty: all have `most`
};

// The axes of places are regions, rows and columns of bins, rows and columns of a bin's samples, and one for the channels.
class Regions {
public:
    explicit Regions(NodeLowering *node) : node_(*node), image_(node->shape(node->input(0))) {
        read_attributes();
        const Shape rois = node->shape(node->input(1)), indices = node->shape(node->input(2));
        if (image_.size() != 4) reject("its input of shape " + to_text(image_) + " is not N, C, H, W");
        if (rois.size() != 2 || rois[1] != 4 || indices != Shape{rois[0]}) {
            reject("its rois of shape " + to_text(rois) + " and batch_indices of shape " + to_text(indices) +
                   " are not Rx4 and R");
        }
        count_ = rois[0];
        if (node->type(node->input(0)) != Element::f32 || node->type(node->input(1)) != Element::f32)
            refuse("kiln samples f32 in regions of f32");
        if (const Element type = node->type(node->input(2)); type != Element::i64)
            reject("its batch_indices are " + std::string(name(type)) + ", not i64");
        const int64_t pixels = checked_count({image_[0], image_[2], image_[3]});
        if (pixels == 0) reject("its images have no pixels");
        if (pixels > std::numeric_limits<int32_t>::max()) refuse("its images have more pixels than i32 counts");
    }

    ValueId run() {
        const int64_t channels = image_[1];
        const Shape result{count_, channels, bins_[0], bins_[1]};
        if (checked_count(result) == 0) return node_.constant({{Element::f32, result}, std::vector<double>{}});
        for (size_t d = 0; d < 2; d++) samples_[d].most = ratio_;
        if (ratio_ == 0) count_samples();
        checked_count({count_, bins_[0], bins_[1], samples_[0].most, samples_[1].most, channels});
        for (size_t d = 0; d < 2; d++) {
            check_places(bins_[d]);
            check_places(samples_[d].most);
        }
        const ValueId channels_last = node_.transpose(node_.input(0), {0, 2, 3, 1});
        SampledMap map{.lines = node_.reshape(channels_last, {image_[0] * image_[2] * image_[3], channels}),
                       .extents = {image_[2], image_[3]}};
        const ValueId images = of_regions(node_.input(2));
        for (size_t d = 0; d < 2; d++) map.places.push_back(places_along(d, images));
        if (image_[0] > 1) {
            const auto pixels = static_cast<double>(image_[2] * image_[3]);
            const Expression first = scalar::cast(operand(0), Element::i32) * NumbersOf{Element::i32}(pixels);
            map.first = node_.elementwise(first, {images});
        }
        const ValueId pooled = takes_greatest_ ? greatest_samples(map) : mean_of_samples(map);
        const ValueId bins = node_.reshape(pooled, {count_, bins_[0], bins_[1], channels});
        return node_.transpose(bins, {0, 3, 1, 2});
    }

private:
    void read_attributes() {
        const std::string mode = node_.attributes.text("mode", "avg");
        if (mode != "avg" && mode != "max")
            reject("its attribute 'mode' is " + shown(mode) + ", which must be avg or max");
        takes_greatest_ = mode == "max";
        // Opset 10 has no shift by half a pixel. So onnxruntime and the conversion to opset 16 read it; onnx's reference shifts.
        const std::string corners = node_.opset() < 16 ? "output_half_pixel" : "half_pixel";
        const std::string coordinates = node_.attributes.text("coordinate_transformation_mode", corners);
        is_half_pixel_ = coordinates == "half_pixel";
        if (!is_half_pixel_ && coordinates != "output_half_pixel") {
            reject("its attribute 'coordinate_transformation_mode' is " + shown(coordinates) +
                   ", which must be half_pixel or output_half_pixel");
        }
        bins_ = {node_.attributes.integer("output_height", 1), node_.attributes.integer("output_width", 1)};
        ratio_ = node_.attributes.integer("sampling_ratio", 0);
        scale_ = node_.attributes.real("spatial_scale", 1);
        if (!std::isfinite(scale_)) reject("its attribute 'spatial_scale' is not finite");
        if (bins_[0] < 1 || bins_[1] < 1 || ratio_ < 0) {
            reject("it cuts regions into " + to_text({bins_[0], bins_[1]}) + " bins of " + std::to_string(ratio_) +
                   " samples a side");
        }
    }

    // As many samples as a bin has pixels, rounded up, which are computed in floats as other implementations do.
    void count_samples() {
        if (!node_.is_known(1)) {
            refuse(
                "its input 'rois' is known only when the network runs, and kiln needs it before: where the attribute "
                "'sampling_ratio' is 0, the number of samples follows from it; set sampling_ratio to 1 or more, or " +
                node_.way_out(1));
        }
        check_places(node_.elements(node_.input(1)));
        const std::vector<double> rois = node_.known_reals(1, "rois");
        const auto edge = [&](size_t i) {
            const float scaled = static_cast<float>(rois[i]) * static_cast<float>(scale_);
            return is_half_pixel_ ? scaled - 0.5F : scaled;
        };
        for (size_t d = 0; d < 2; d++) {
            for (size_t first = 0; first < rois.size(); first += 4) {
                float size = edge(first + 3 - d) - edge(first + 1 - d);
                if (!is_half_pixel_) size = std::max(size, 1.0F);
                double samples = std::ceil(size / static_cast<float>(bins_[d]));
                if (!(samples <= static_cast<double>(most_places)))
                    refuse("a region of it is too large: its bins have " + std::to_string(samples) + " samples a side");
                samples = std::max(samples, 0.0);
                samples_[d].own.push_back(samples);
                samples_[d].most = std::max(samples_[d].most, static_cast<int64_t>(samples));
            }
        }
        check_places(checked_count({count_, bins_[0], bins_[1], samples_[0].most, samples_[1].most}));
    }

    // A number for each region, of shape R or R, 1, as one along the axes of places: R, 1, 1, 1, 1, 1.
    ValueId of_regions(ValueId value) { return node_.reshape(value, {count_, 1, 1, 1, 1, 1}); }
    ValueId of_regions(std::vector<double> numbers) {
        return node_.constant({{Element::f32, {count_, 1, 1, 1, 1, 1}}, std::move(numbers)});
    }

    // first, first + 1, ... along one of the axes of places.
    ValueId counted_along(size_t axis, int64_t count, double first) {
        Shape shape(6, 1);
        shape[axis] = count;
        std::vector<double> numbers(static_cast<size_t>(count));
        for (double &number : numbers) number = first++;
        return node_.constant({{Element::f32, shape}, std::move(numbers)});
    }

    // Where samples lie along an axis of the image: one that is further than a pixel outside of it reads nothing.
    ValueId places_along(size_t d, ValueId images) {
        const NumbersOf number{};
        const auto edge = [&](int64_t column) { return of_regions(take(node_, node_.input(1), {{1, {column}}})); };
        const auto scaled = [&](const Expression &x) {
            return is_half_pixel_ ? x * number(scale_) - number(0.5) : x * number(scale_);
        };
        const BinSamples &samples = samples_[d];
        const ValueId sample = counted_along(3 + d, samples.most, 0.5);
        const auto axis = static_cast<int64_t>(d);
        std::vector<ValueId> inputs{edge(1 - axis), edge(3 - axis), counted_along(1 + d, bins_[d], 0), sample};
        Expression which = operand(3), count = number(static_cast<double>(samples.most));
        if (!samples.own.empty()) {
            inputs.push_back(of_regions(samples.own));
            count = greatest(operand(4), number(1));
            // Where others have more samples, the last one counts again, which changes no maximum.
            if (takes_greatest_) which = least(which, count - number(0.5));
        }
        Expression size = scaled(operand(1)) - scaled(operand(0));
        if (!is_half_pixel_) size = greatest(size, number(1));
        const Expression bin = size / number(static_cast<double>(bins_[d]));
        const ValueId place =
            node_.elementwise(scaled(operand(0)) + operand(2) * bin + which * bin / count, std::move(inputs));
        return led_inside(d, place, sample, images);
    }

    ValueId led_inside(size_t d, ValueId place, ValueId sample, ValueId images) {
        const NumbersOf number{};
        const auto extent = static_cast<double>(image_[2 + d]);
        const auto both = [](Expression a, Expression b) {
            return apply(Function::logical_and, std::move(a), std::move(b));
        };
        std::vector<ValueId> inputs{place};
        Expression is_read = both(apply(Function::less_or_equal, number(-1), operand(0)),
                                  apply(Function::less_or_equal, operand(0), number(extent)));
        if (const std::vector<double> &own = samples_[d].own; !own.empty()) {
            inputs.insert(inputs.end(), {sample, of_regions(own)});
            is_read = both(is_read, takes_greatest_ ? less(number(0), operand(2)) : less(operand(1), operand(2)));
        }
        if (d == 0 && !are_images_known()) {
            const NumbersOf integer{node_.type(images)};
            const Expression image = operand(static_cast<int>(inputs.size()));
            inputs.push_back(images);
            is_read = both(is_read, both(apply(Function::less_or_equal, integer(0), image),
                                         less(image, integer(static_cast<double>(image_[0])))));
        }
        const Expression inside = least(greatest(operand(0), number(0)), number(extent - 1));
        return node_.elementwise(select(is_read, inside, number(-2)), std::move(inputs));
    }

    // Whether they are known and there are such images.
    bool are_images_known() const {
        if (!node_.is_known(2)) return false;
        for (const int64_t image : node_.known_integers(2, "batch_indices")) {
            if (image < 0 || image >= image_[0]) {
                reject("its input 'batch_indices' has an image " + std::to_string(image) + " of " +
                       std::to_string(image_[0]));
            }
        }
        return true;
    }

    ValueId mean_of_samples(const SampledMap &map) {
        const ValueId values = interpolated(node_, map);
        if (samples_[0].own.empty()) return node_.add(Reduce{Reduce::Kind::mean, {3, 4}}, {values});
        std::vector<double> counts;
        for (size_t i = 0; i < samples_[0].own.size(); i++)
            counts.push_back(std::max(samples_[0].own[i] * samples_[1].own[i], 1.0));
        const ValueId sums = node_.add(Reduce{Reduce::Kind::sum, {3, 4}}, {values});
        return node_.elementwise(operand(0) / operand(1), {sums, of_regions(std::move(counts))});
    }

    // ONNX takes the greatest of the four pixels around a sample, each times its weight, and not of their sum.
    ValueId greatest_samples(const SampledMap &map) {
        std::vector<ValueId> inputs = map.places;
        Expression value;
        for (const int down : {0, 1}) {
            for (const int right : {0, 1}) {
                const Expression pixel = operand(static_cast<int>(inputs.size()));
                const Expression term = linear_weight(operand(0), down) * linear_weight(operand(1), right) * pixel;
                value = inputs.size() == map.places.size() ? term : greatest(value, term);
                inputs.push_back(lines_at(node_, map, {down, right}));
            }
        }
        return node_.add(Reduce{Reduce::Kind::maximum, {3, 4}}, {node_.elementwise(value, std::move(inputs))});
    }

    NodeLowering &node_;
    Shape image_;
    int64_t count_ = 0, ratio_ = 0;  // of regions; of samples along a side of a bin
    double scale_ = 1;
    bool takes_greatest_ = false, is_half_pixel_ = false;
    std::array<int64_t, 2> bins_{};  // along the height and the width, as what follows
    std::array<BinSamples, 2> samples_;
};

}  // namespace

void roi_align(NodeLowering &node) {
    node.compute_in_f32({node.type(node.input(0))});
    node.result(Regions(&node).run());
}

}  // namespace kiln::graph
