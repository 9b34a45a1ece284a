#include "graph/lower/rules/window.h"

#include <algorithm>
#include <numeric>

#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

constexpr int64_t most = int64_t{1} << 31;  // of every size that an attribute states

void check_range(const std::vector<int64_t> &values, int64_t least, std::string_view name) {
    for (const int64_t value : values) {
        if (value >= least && value <= most) continue;
        reject("its attribute " + shown(name) + " has an entry " + std::to_string(value));
    }
}

std::vector<int64_t> positive_entries(const NodeLowering &node, std::string_view name, size_t rank) {
    std::vector<int64_t> values = node.attributes.integers(name);
    if (values.empty()) values.assign(rank, 1);
    if (values.size() != rank) {
        reject("its attribute " + shown(name) + " has " + std::to_string(values.size()) + " entries for " +
               std::to_string(rank) + " spatial axes");
    }
    check_range(values, 1, name);
    return values;
}

std::vector<Padding> pads(const NodeLowering &node, size_t rank) {
    std::vector<int64_t> values = node.attributes.integers("pads");
    if (values.empty()) values.assign(2 * rank, 0);
    if (values.size() != 2 * rank) {
        reject("its attribute 'pads' has " + std::to_string(values.size()) + " entries for " + std::to_string(rank) +
               " spatial axes, which have a beginning and an end each");
    }
    check_range(values, -most, "pads");
    std::vector<Padding> padding;
    for (size_t d = 0; d < rank; d++) padding.push_back({values[d], values[d + rank]});
    return padding;
}

// Precondition: b > 0.
int64_t divided_up(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

// As many windows as strides fit into the input.
Padding same_padding(const Window &window, size_t d, int64_t extent, bool upper) {
    const int64_t windows = divided_up(extent, window.strides[d]);
    const int64_t total = (windows - 1) * window.strides[d] + window.reach(d) - extent;
    return halves(std::max<int64_t>(total, 0), upper);
}

// With ceil_mode one more window counts, as long as it begins within the input or the padding before it.
int64_t reach_beyond(const Window &window, size_t d, int64_t extent) {
    const int64_t padded = extent + window.padding[d].lo + window.padding[d].hi;
    const int64_t rest = padded - window.reach(d);
    int64_t windows = divided_up(rest, window.strides[d]) + 1;
    if ((windows - 1) * window.strides[d] >= extent + window.padding[d].lo) windows--;
    return windows > 0 ? std::max<int64_t>((windows - 1) * window.strides[d] - rest, 0) : 0;
}

std::vector<int> axes_of_image(const NodeLowering &node, ValueId x) {
    if (node.rank(x) < 3) reject("its input of shape " + to_text(node.shape(x)) + " has no spatial axes");
    std::vector<int> axes(static_cast<size_t>(node.rank(x)));
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

}  // namespace

AutoPad auto_pad(const Attributes &attributes) {
    const std::string text = attributes.text("auto_pad", "NOTSET");
    if (text == "NOTSET" || text.empty()) return AutoPad::none;
    if (text == "VALID") return AutoPad::valid;
    if (text == "SAME_UPPER") return AutoPad::same_upper;
    if (text == "SAME_LOWER") return AutoPad::same_lower;
    reject("its attribute 'auto_pad' is " + shown(text) + ", which must be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
}

Padding halves(int64_t total, bool more_at_end) {
    const int64_t less = total / 2;
    return more_at_end ? Padding{less, total - less} : Padding{total - less, less};
}

Window window_without_auto_pad(const NodeLowering &node, ValueId x, std::vector<int64_t> extents) {
    if (node.rank(x) < 3)
        reject("its input of shape " + to_text(node.shape(x)) + " has no spatial axes behind N and C");
    return window_of_rank(node, static_cast<size_t>(node.rank(x)) - 2, std::move(extents));
}

Window window_of_rank(const NodeLowering &node, size_t rank, std::vector<int64_t> extents) {
    Window window;
    const std::vector<int64_t> stated = node.attributes.integers("kernel_shape");
    if (!extents.empty() && !stated.empty() && stated != extents) {
        reject("its attribute 'kernel_shape' is " + to_text(stated) + ", but its weights have windows of " +
               to_text(extents));
    }
    if (extents.empty() && stated.empty()) reject("it has no attribute 'kernel_shape', which the operator requires");
    window.extents = extents.empty() ? positive_entries(node, "kernel_shape", rank) : std::move(extents);
    if (std::ranges::any_of(window.extents, [](int64_t extent) { return extent < 1 || extent > most; }))
        reject("its weights have windows of " + to_text(window.extents));
    if (window.extents.size() != rank) {
        reject("its input has " + std::to_string(rank) + " spatial axes, its weights have " +
               std::to_string(window.extents.size()));
    }
    window.strides = positive_entries(node, "strides", rank);
    window.dilations = positive_entries(node, "dilations", rank);
    window.padding = pads(node, rank);
    window.beyond.assign(rank, 0);
    for (size_t d = 0; d < rank; d++) {
        if (window.extents[d] > most / window.dilations[d]) reject("its window is too large");
    }
    return window;
}

Window window_over(const NodeLowering &node, ValueId x, std::vector<int64_t> extents) {
    Window window = window_without_auto_pad(node, x, std::move(extents));
    const Shape shape = node.shape(x);
    const AutoPad mode = auto_pad(node.attributes);
    const bool ceil = node.attributes.flag("ceil_mode", false);
    for (size_t d = 0; d < window.extents.size(); d++) {
        const int64_t extent = shape[d + 2];
        if (mode == AutoPad::valid) window.padding[d] = {};
        if (mode == AutoPad::same_upper || mode == AutoPad::same_lower) {
            window.padding[d] = same_padding(window, d, extent, mode == AutoPad::same_upper);
        }
        // As ONNX's shape inference and ONNX Runtime do. The text of VALID counts no window that is cut off.
        if ((mode == AutoPad::none || mode == AutoPad::valid) && ceil)
            window.beyond[d] = reach_beyond(window, d, extent);
    }
    return window;
}

Window window_of_pool(const NodeLowering &node, ValueId x, Lacking lacking) {
    Window window = window_over(node, x, {});
    const Shape shape = node.shape(x);
    for (size_t d = 0; d < window.extents.size(); d++) {
        const int64_t more = window.reach(d) - shape[d + 2] - window.padding[d].lo - window.padding[d].hi;
        if (more <= window.beyond[d] || more >= window.strides[d]) continue;
        (lacking == Lacking::padding ? window.padding[d].hi : window.beyond[d]) += more;
    }
    return window;
}

ValueId with_channels_first(NodeLowering &node, ValueId x) {
    std::vector<int> axes = axes_of_image(node, x);
    std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
    return node.transpose(x, axes);
}

ValueId with_channels_last(NodeLowering &node, ValueId x) {
    std::vector<int> axes = axes_of_image(node, x);
    std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
    return node.transpose(x, axes);
}

}  // namespace kiln::graph
