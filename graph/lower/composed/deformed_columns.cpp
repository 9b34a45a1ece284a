#include "graph/lower/composed/deformed_columns.h"

#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "graph/lower/composed/sampled_map.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

enum Input { image_input = 0, offset_input = 2, mask_input = 4 };

// Channels that lie side by side and share both a group and an offset are a block: a gather takes all of them at once. There are
// blocks_, each of size_ channels. The axes of places are images, windows, groups, taps, blocks of a group, and one for the channels
// of a block.
class Columns {
public:
    Columns(NodeLowering *node, const DeformedWindow &window)
        : node_(*node),
          window_(window),
          image_(node->shape(node->input(image_input))),
          result_(node->shape(node->input(offset_input))),
          offset_groups_(node->attributes.integer("offset_group", 1)) {
        if (image_.size() != 4 || result_.size() != 4) {
            refuse("its input has " + std::to_string(image_.size()) + " axes, its offset " +
                   std::to_string(result_.size()) + "; kiln deforms windows over images, N, C, H, W");
        }
        taps_ = checked_count(window.extents);
        check_groups();
        for (size_t d = 0; d < 2; d++) {
            if (result_[d + 2] != windows(d)) {
                reject("its offset of shape " + to_text(result_) + " has not " + std::to_string(windows(d)) +
                       " windows along spatial axis " + std::to_string(d));
            }
        }
        check_operand(offset_input, "offset", 2);
        if (node->has_input(mask_input)) check_operand(mask_input, "mask", 1);
        positions_ = checked_count({result_[2], result_[3]});
        checked_count({image_[0], positions_, image_[1], taps_});
        if (image_[2] * image_[3] == 0) reject("its images have no pixels");
        if (image_[0] * image_[2] * image_[3] * blocks_ > std::numeric_limits<int32_t>::max())
            refuse("its images have more pixels than i32 counts");
        check_places(positions_);
        check_places(taps_);
        check_places(image_[0] * blocks_);
    }

    ValueId run() {
        const int64_t images = image_[0], channels = image_[1], pixels = image_[2] * image_[3];
        if (images * positions_ == 0) {
            const Shape none{images, channels * taps_, result_[2], result_[3]};
            return node_.constant({{Element::f32, none}, std::vector<double>{}});
        }
        const ValueId channels_last = node_.transpose(node_.input(image_input), {0, 2, 3, 1});
        SampledMap map{.lines = node_.reshape(channels_last, {images * pixels * blocks_, size_}),
                       .extents = {image_[2], image_[3]},
                       .step = blocks_};
        const ValueId offsets = node_.transpose(
            node_.reshape(node_.input(offset_input), {images, offset_groups_, taps_, 2, positions_}), {0, 4, 1, 2, 3});
        for (int axis = 0; axis < 2; axis++) {
            const ValueId own = in_blocks(take(node_, offsets, {{4, {axis}}}));
            map.places.push_back(
                node_.elementwise(operand(1) + operand(0) + operand(2), {own, corners(axis), taps_along(axis)}));
        }
        if (images * blocks_ > 1) map.first = first_lines();
        ValueId columns = interpolated(node_, map);
        if (node_.has_input(mask_input)) {
            const ValueId mask = node_.reshape(node_.input(mask_input), {images, offset_groups_, taps_, positions_});
            columns =
                node_.elementwise(operand(0) * operand(1), {columns, in_blocks(node_.transpose(mask, {0, 3, 1, 2}))});
        }
        const ValueId rows = node_.reshape(columns, {images, result_[2], result_[3], channels * taps_});
        return node_.transpose(rows, {0, 3, 1, 2});
    }

private:
    void check_groups() {
        const int64_t channels = image_[1], own = node_.shape(node_.input(1))[1];
        if (window_.groups < 1 || channels % window_.groups != 0 || channels / window_.groups != own) {
            reject("its input has " + std::to_string(channels) + " channels, its weights " + std::to_string(own) +
                   " in each of " + std::to_string(window_.groups) + " groups");
        }
        if (offset_groups_ < 1 || channels % offset_groups_ != 0) {
            reject("its attribute 'offset_group' is " + std::to_string(offset_groups_) + ", which does not divide " +
                   std::to_string(channels) + " channels");
        }
        if (channels == 0) reject("its input has no channels");
        size_ = std::gcd(own, channels / offset_groups_);
        blocks_ = channels / size_;
    }

    // N, numbers of each tap of each offset group, H', W'.
    void check_operand(int input, const char *name, int64_t numbers) const {
        const ValueId value = node_.input(input);
        const Shape shape = node_.shape(value);
        const bool fits = shape.size() == 4 && shape[0] == image_[0] && shape[1] % (numbers * taps_) == 0 &&
                          shape[1] / (numbers * taps_) == offset_groups_ && shape[2] == result_[2] &&
                          shape[3] == result_[3];
        if (!fits) {
            reject("its " + std::string(name) + " of shape " + to_text(shape) + " does not fit " +
                   std::to_string(image_[0]) + " images, " + std::to_string(offset_groups_) + " offset groups of " +
                   std::to_string(taps_) + " taps and " + std::to_string(result_[2]) + "x" +
                   std::to_string(result_[3]) + " windows");
        }
        if (node_.type(value) != Element::f32 || node_.type(node_.input(image_input)) != Element::f32)
            refuse("kiln deforms windows of f32 by f32");
    }

    int64_t windows(size_t d) const {
        const int64_t reach = (window_.extents[d] - 1) * window_.dilations[d] + 1;
        const int64_t rest = image_[d + 2] + window_.padding[d].lo + window_.padding[d].hi - reach;
        return rest < 0 ? 0 : rest / window_.strides[d] + 1;
    }

    // Numbers of images, windows, offset groups and taps, for the blocks that have them.
    ValueId in_blocks(ValueId numbers) {
        const int64_t images = image_[0], groups = window_.groups, blocks_of_group = blocks_ / groups;
        if (offset_groups_ == 1) return node_.reshape(numbers, {images, positions_, 1, taps_, 1, 1});
        std::vector<int64_t> offset_group_of_blocks;
        const int64_t channels_of_offset_group = image_[1] / offset_groups_;
        for (int64_t block = 0; block < blocks_; block++)
            offset_group_of_blocks.push_back(block * size_ / channels_of_offset_group);
        const ValueId each = take(node_, node_.reshape(numbers, {images, positions_, offset_groups_, taps_}),
                                  {{2, std::move(offset_group_of_blocks)}});
        const ValueId grouped = node_.reshape(each, {images, positions_, groups, blocks_of_group, taps_});
        return node_.reshape(node_.transpose(grouped, {0, 1, 2, 4, 3}),
                             {images, positions_, groups, taps_, blocks_of_group, 1});
    }

    // Where each window begins.
    ValueId corners(int axis) {
        const auto d = static_cast<size_t>(axis);
        std::vector<double> numbers;
        for (int64_t i = 0; i < positions_; i++) {
            const int64_t window = axis == 0 ? i / result_[3] : i % result_[3];
            numbers.push_back(static_cast<double>(window * window_.strides[d] - window_.padding[d].lo));
        }
        return node_.constant({{Element::f32, {1, positions_, 1, 1, 1, 1}}, std::move(numbers)});
    }

    // Where each tap lies in its window.
    ValueId taps_along(int axis) {
        const auto d = static_cast<size_t>(axis);
        std::vector<double> numbers;
        for (int64_t i = 0; i < taps_; i++) {
            const int64_t tap = axis == 0 ? i / window_.extents[1] : i % window_.extents[1];
            numbers.push_back(static_cast<double>(tap * window_.dilations[d]));
        }
        return node_.constant({{Element::f32, {1, 1, 1, taps_, 1, 1}}, std::move(numbers)});
    }

    // The block of the first pixel of each image.
    ValueId first_lines() {
        std::vector<int64_t> lines;
        for (int64_t image = 0; image < image_[0]; image++) {
            for (int64_t block = 0; block < blocks_; block++)
                lines.push_back(image * image_[2] * image_[3] * blocks_ + block);
        }
        const int64_t groups = window_.groups;
        return node_.constant({{Element::i32, {image_[0], 1, groups, 1, blocks_ / groups, 1}}, std::move(lines)});
    }

    NodeLowering &node_;
    const DeformedWindow &window_;
    Shape image_, result_;  // of the input, and of the offset, whose last two axes are those of the result
    int64_t offset_groups_, taps_ = 0, positions_ = 0, size_ = 0, blocks_ = 0;
};

}  // namespace

ValueId deformed_columns(NodeLowering &node, const DeformedWindow &window) { return Columns(&node, window).run(); }

}  // namespace kiln::graph
