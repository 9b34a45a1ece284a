// Pad, CenterCropPad, Concat and Expand: results larger than their inputs.
#include <algorithm>
#include <numeric>

#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/rule.h"
#include "workload/workload.h"

namespace kiln::graph {
namespace {

enum class PadMode { constant, edge, reflect, wrap };

PadMode pad_mode(const NodeLowering &node) {
    const std::string mode = node.attributes.text("mode", "constant");
    if (mode == "constant") return PadMode::constant;
    if (mode == "edge") return PadMode::edge;
    if (mode == "reflect") return PadMode::reflect;
    if (mode == "wrap") return PadMode::wrap;
    reject("its attribute 'mode' is " + shown(mode) + ", which must be constant, edge, reflect or wrap");
}

int64_t remainder(int64_t a, int64_t b) { return (a % b + b) % b; }

// The element that stands at `place`, which may lie outside of [0, extent).
int64_t element_at(PadMode mode, int64_t place, int64_t extent) {
    if (place >= 0 && place < extent) return place;
    switch (mode) {
        case PadMode::constant:
            break;
        case PadMode::edge:
            return std::clamp<int64_t>(place, 0, extent - 1);
        case PadMode::wrap:
            return remainder(place, extent);
        case PadMode::reflect: {
            if (extent == 1) return 0;
            const int64_t turned = remainder(place, 2 * (extent - 1));
            return std::min(turned, 2 * (extent - 1) - turned);
        }
    }
    return Resample::outside;
}

// Negative padding cuts off first; the other modes repeat what is left of the input.
std::vector<int64_t> padded(PadMode mode, Padding padding, int64_t extent) {
    const int64_t first = std::max<int64_t>(-padding.lo, 0);
    const int64_t left = extent - first - std::max<int64_t>(-padding.hi, 0);
    const Padding added{std::max<int64_t>(padding.lo, 0), std::max<int64_t>(padding.hi, 0)};
    if (left < 0) reject("its padding cuts off more than an extent of " + std::to_string(extent));
    if (left == 0 && added != Padding() && mode != PadMode::constant) reject("it has no element to repeat");
    std::vector<int64_t> indices = index_range(-added.lo, added.lo + left + added.hi);
    for (int64_t &index : indices) {
        index = element_at(mode, index, left);
        if (index != Resample::outside) index += first;
    }
    return indices;
}

// The lowest number has no absolute value.
bool is_too_large(int64_t padding) { return padding < -most_elements || padding > most_elements; }

struct PaddedAxis {
    int axis;
    Padding padding;
};

ValueId padded(NodeLowering &node, const std::vector<PaddedAxis> &axes, PadMode mode, double fill) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    Shape result = shape;
    for (const auto &[axis, padding] : axes) {
        if (is_too_large(padding.lo) || is_too_large(padding.hi)) refuse("its padding is too large");
        result[axis] = std::max<int64_t>(shape[axis] + padding.lo + padding.hi, 0);
    }
    check_size(result);
    std::vector<IndexedAxis> indexed;
    for (const auto &[axis, padding] : axes) indexed.push_back({axis, padded(mode, padding, shape[axis])});
    return take(node, x, std::move(indexed), fill);
}

std::vector<int64_t> stated_pads(const NodeLowering &node) {
    if (node.opset() < 2) return node.attributes.required_integers("paddings");
    return node.opset() < 11 ? node.attributes.required_integers("pads") : node.known_integers(1, "pads");
}

double fill(const NodeLowering &node) {
    if (node.opset() < 11) return node.attributes.real("value", 0);
    if (!node.has_input(2)) return 0;
    const std::vector<double> values = node.known_reals(2, "constant_value");
    if (values.size() > 1) reject("its input 'constant_value' has " + std::to_string(values.size()) + " elements");
    return values.empty() ? 0 : values[0];
}

void pad(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    std::vector<int64_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    if (node.opset() >= 18 && node.has_input(3)) axes = node.known_integers(3, "axes");
    axes_of(axes, node.rank(x));  // none twice
    const std::vector<int64_t> pads = stated_pads(node);
    if (pads.size() != 2 * axes.size()) {
        reject("it has " + std::to_string(pads.size()) + " pads for " + std::to_string(axes.size()) +
               " axes, which have a beginning and an end each");
    }
    std::vector<PaddedAxis> padding;
    for (size_t i = 0; i < axes.size(); i++) {
        padding.push_back({axis_of(axes[i], node.rank(x)), {pads[i], pads[i + axes.size()]}});
    }
    const PadMode mode = pad_mode(node);
    node.result(padded(node, padding, mode, mode == PadMode::constant ? fill(node) : 0));
}

// The middle of an axis, or zeros around it. An odd element more is cut off or added at the end.
void center_crop_pad(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    std::vector<int64_t> axes = node.attributes.integers("axes");
    if (!node.attributes.has("axes")) {
        axes.resize(shape.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    axes_of(axes, node.rank(x));  // none twice
    const std::vector<int64_t> extents = node.known_integers(1, "shape");
    if (extents.size() != axes.size())
        reject("it states " + std::to_string(extents.size()) + " extents for " + std::to_string(axes.size()) + " axes");
    std::vector<PaddedAxis> padding;
    for (size_t i = 0; i < axes.size(); i++) {
        const int axis = axis_of(axes[i], node.rank(x));
        if (extents[i] < 0 || extents[i] > most_elements)
            reject("it states an extent of " + std::to_string(extents[i]));
        const int64_t more = extents[i] - shape[axis];
        const int64_t before = more / 2;  // towards 0
        padding.push_back({axis, {before, more - before}});
    }
    node.result(padded(node, padding, PadMode::constant, 0));
}

// Until opset 3 the axis is 1 where none is stated.
void concat(NodeLowering &node) {
    const std::vector<ValueId> inputs = node.all_inputs();
    const std::optional<int64_t> absent = node.opset() < 4 ? std::optional<int64_t>(1) : std::nullopt;
    const int axis = axis_of(node.attributes.integer("axis", absent), node.rank(inputs[0]));
    node.result(inputs.size() == 1 ? inputs[0] : node.add(Concat{axis}, inputs));
}

void expand(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = value_or_refusal(broadcast(node.shape(x), node.known_integers(1, "shape")));
    node.result(node.elementwise(operand(0), {x}, shape));
}

constexpr Rule rows_of_pad[] = {
    {"CenterCropPad", 18, {2, 2}, 1, "axes", center_crop_pad},
    {"Concat", 1, {1, Rule::any}, 1, "axis", concat},
    {"Expand", 8, {2, 2}, 1, "", expand},
    {"Pad", 1, {1, 1}, 1, "mode paddings value", pad},
    {"Pad", 2, {1, 1}, 1, "mode pads value", pad},
    {"Pad", 11, {2, 3}, 1, "mode", pad},
    {"Pad", 18, {2, 4}, 1, "mode", pad},
};

}  // namespace

std::span<const Rule> pad_rules() { return rows_of_pad; }

}  // namespace kiln::graph
