// The window of a convolution or a pool as attributes describe it: explicit pads or auto_pad, strides, dilations, ceil_mode.
#pragma once

#include <string_view>
#include <vector>

#include "graph/lower/node/node_lowering.h"
#include "workload/workload.h"

namespace kiln::graph {

// One entry a spatial axis in each list.
struct Window {
    std::vector<int64_t> extents, strides, dilations;
    std::vector<Padding> padding;
    std::vector<int64_t> beyond;  // how far the last windows reach beyond the padding, where ceil_mode adds one

    int64_t reach(size_t d) const { return (extents[d] - 1) * dilations[d] + 1; }
};

// Reads kernel_shape, strides, dilations, pads and ceil_mode. `extents` are those of the weights, empty for a pool: then
// kernel_shape says them. Sizes are small enough for sums and products of a few of them.
Window window_without_auto_pad(const NodeLowering &node, ValueId x, std::vector<int64_t> extents);

// The same for windows of that many spatial axes.
Window window_of_rank(const NodeLowering &node, size_t rank, std::vector<int64_t> extents);

// The same with auto_pad and `beyond`, for windows that move over `x`.
Window window_over(const NodeLowering &node, ValueId x, std::vector<int64_t> extents);

// The same for a pool over `x`. A window that is larger than image and padding by less than a stride counts once: ONNX's shape
// inference, like onnxruntime, divides towards zero. What it lacks is padding until opset 18 and in com.microsoft, and `beyond` since.
enum class Lacking { padding, beyond };
Window window_of_pool(const NodeLowering &node, ValueId x, Lacking lacking);

// Attributes of a convolution, as a Rule lists them.
inline constexpr std::string_view window_attributes = "auto_pad dilations group kernel_shape pads strides";

// The convolution that attributes describe, of weights O, I of one group, spatial...
Convolution convolution_over(const NodeLowering &node, ValueId x, ValueId w);

// N, spatial..., C as N, C, spatial..., and the other way.
ValueId with_channels_first(NodeLowering &node, ValueId x);
ValueId with_channels_last(NodeLowering &node, ValueId x);

// The attribute: NOTSET, VALID, SAME_UPPER or SAME_LOWER.
enum class AutoPad { none, valid, same_upper, same_lower };
AutoPad auto_pad(const Attributes &attributes);

// `total` on both sides, an odd one more where `more_at_end` says.
Padding halves(int64_t total, bool more_at_end);

}  // namespace kiln::graph
