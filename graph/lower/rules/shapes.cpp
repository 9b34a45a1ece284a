// The same elements in another shape, and what is left of operators that only training needs.
#include <algorithm>
#include <numeric>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

void identity(NodeLowering &node) { node.result(node.input(0)); }

// The product of the extents of `shape`; those in [first, last).
int64_t count(const Shape &shape, size_t first, size_t last) {
    int64_t result = 1;
    for (size_t d = first; d < last; d++) result *= shape[d];
    return result;
}

// 0 stands for the extent of the input at that place, -1 for what is left.
Shape resolved(const Shape &from, Shape to, bool zero_is_copied) {
    int64_t known = 1;
    std::ptrdiff_t open = -1;
    for (size_t d = 0; d < to.size(); d++) {
        if (to[d] == 0 && zero_is_copied) {
            if (d >= from.size())
                reject("its shape copies axis " + std::to_string(d) + " of an input of shape " + to_text(from));
            to[d] = from[d];
        }
        if (to[d] < -1) reject("its shape " + to_text(to) + " has an extent of " + std::to_string(to[d]));
        if (to[d] == -1 && open >= 0) reject("its shape " + to_text(to) + " has more than one open extent");
        if (to[d] == -1) {
            open = static_cast<std::ptrdiff_t>(d);
        } else if (__builtin_mul_overflow(known, to[d], &known)) {
            reject("its shape " + to_text(to) + " is too large");
        }
    }
    if (open < 0) return to;
    const int64_t elements = count(from, 0, from.size());
    if (known == 0 || elements % known != 0) {
        reject("its input of shape " + to_text(from) + " does not divide into its shape " + to_text(to));
    }
    to[open] = elements / known;
    return to;
}

void reshape(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape to = node.opset() < 5 ? node.attributes.required_integers("shape") : node.known_integers(1, "shape");
    const bool zero_is_copied = !node.attributes.flag("allowzero", false);
    node.result(node.reshape(x, resolved(node.shape(x), to, zero_is_copied)));
}

void flatten(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const int64_t rank = node.rank(x);
    int64_t axis = node.attributes.integer("axis", 1);
    if (axis < -rank || axis > rank) reject("axis " + std::to_string(axis) + " of an input of shape " + to_text(shape));
    if (axis < 0) axis += rank;
    node.result(node.reshape(x, {count(shape, 0, axis), count(shape, axis, rank)}));
}

// Axes are an attribute, from opset 13 on an input.
std::vector<int64_t> stated_axes(const NodeLowering &node) {
    if (node.opset() < 13) return node.attributes.integers("axes");
    return node.has_input(1) ? node.known_integers(1, "axes") : std::vector<int64_t>();
}

void squeeze(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const bool all = node.opset() < 13 ? !node.attributes.has("axes") : !node.has_input(1);
    const std::vector<int> axes = axes_of(stated_axes(node), node.rank(x));
    Shape kept;
    for (int d = 0; d < node.rank(x); d++) {
        const bool named = std::ranges::binary_search(axes, d);
        if (named && shape[d] != 1)
            reject("axis " + std::to_string(d) + " of its input of shape " + to_text(shape) + " is not 1");
        if (!named && !(all && shape[d] == 1)) kept.push_back(shape[d]);
    }
    node.result(node.reshape(x, kept));
}

// Axes are those of the result.
void unsqueeze(NodeLowering &node) {
    const ValueId x = node.input(0);
    const std::vector<int64_t> stated =
        node.opset() < 13 ? node.attributes.required_integers("axes") : node.known_integers(1, "axes");
    Shape shape = node.shape(x);
    if (stated.size() > most_axes) reject("it adds " + std::to_string(stated.size()) + " axes");
    for (const int axis : axes_of(stated, node.rank(x) + static_cast<int>(stated.size()))) {
        shape.insert(shape.begin() + axis, 1);
    }
    node.result(node.reshape(x, shape));
}

// At inference, and with a ratio of 0, nothing is dropped, and all of the mask holds.
void dropout(NodeLowering &node) {
    const ValueId x = node.input(0);
    if (node.opset() >= 12 && node.has_input(2)) {
        if (node.elements(node.input(2)) != 1) reject("its input 'training_mode' must have one element");
        const auto drops = [&] { return !node.has_input(1) || node.known_reals(1, "ratio") != std::vector<double>{0}; };
        if (node.known_integers(2, "training_mode")[0] != 0 && drops())
            refuse("it is in training mode; export the model for inference");
    }
    node.result(x);
    if (!node.wants(1)) return;
    const Element type = node.opset() < 10 ? node.type(x) : Element::boolean;
    node.result(
        node.elementwise(constant(1, type), {node.constant({{type, {}}, std::vector<int64_t>{1}})}, node.shape(x)), 1);
}

void transpose(NodeLowering &node) {
    const ValueId x = node.input(0);
    std::vector<int> permutation;
    for (const int64_t axis : node.attributes.integers("perm")) permutation.push_back(axis_of(axis, node.rank(x)));
    if (permutation.empty()) {
        permutation.resize(node.rank(x));
        std::iota(permutation.rbegin(), permutation.rend(), 0);
    }
    node.result(node.transpose(x, permutation));
}

// PixelBlocks of pixels to channels or back. In mode DCR the place within a block is outside of the channel, in CRD inside.
struct PixelBlocks {
    Shape shape;
    int64_t size;
    bool depth_first;
};

PixelBlocks read_blocks(const NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const int64_t size = node.attributes.integer("blocksize");
    const std::string mode = node.attributes.text("mode", "DCR");
    if (shape.size() != 4) reject("its input of shape " + to_text(shape) + " is not N, C, H, W");
    if (size < 1 || size > int64_t{1} << 20) reject("its attribute 'blocksize' is " + std::to_string(size));
    if (mode != "DCR" && mode != "CRD") reject("its attribute 'mode' is '" + mode + "', which must be DCR or CRD");
    return {shape, size, mode == "DCR"};
}

void depth_to_space(NodeLowering &node) {
    const auto [shape, b, depth_first] = read_blocks(node);
    if (shape[1] % (b * b) != 0)
        reject("blocks of " + std::to_string(b) + " do not divide " + std::to_string(shape[1]) + " channels");
    const int64_t n = shape[0], c = shape[1] / (b * b), h = shape[2], w = shape[3];
    const ValueId apart = node.reshape(node.input(0), depth_first ? Shape{n, b, b, c, h, w} : Shape{n, c, b, b, h, w});
    const std::vector<int> order = depth_first ? std::vector{0, 3, 4, 1, 5, 2} : std::vector{0, 1, 4, 2, 5, 3};
    node.result(node.reshape(node.transpose(apart, order), {n, c, h * b, w * b}));
}

void space_to_depth(NodeLowering &node) {
    const auto [shape, b, depth_first] = read_blocks(node);
    if (shape[2] % b != 0 || shape[3] % b != 0) {
        reject("blocks of " + std::to_string(b) + " do not divide an input of shape " + to_text(shape));
    }
    const int64_t n = shape[0], c = shape[1], h = shape[2] / b, w = shape[3] / b;
    const ValueId apart = node.reshape(node.input(0), {n, c, h, b, w, b});
    const std::vector<int> order = depth_first ? std::vector{0, 3, 5, 1, 2, 4} : std::vector{0, 1, 3, 5, 2, 4};
    node.result(node.reshape(node.transpose(apart, order), {n, c * b * b, h, w}));
}

constexpr Rule rows_of_shape[] = {
    {"DepthToSpace", 1, {1, 1}, 1, "blocksize", depth_to_space},
    {"DepthToSpace", 11, {1, 1}, 1, "blocksize mode", depth_to_space},
    {"Dropout", 1, {1, 1}, 2, "consumed_inputs is_test ratio", dropout},
    {"Dropout", 7, {1, 1}, 2, "ratio", dropout},
    {"Dropout", 12, {1, 3}, 2, "seed", dropout},
    {"Flatten", 1, {1, 1}, 1, "axis", flatten},
    {"Identity", 1, {1, 1}, 1, "", identity},
    {"Reshape", 1, {1, 1}, 1, "consumed_inputs shape", reshape},
    {"Reshape", 5, {2, 2}, 1, "", reshape},
    {"Reshape", 14, {2, 2}, 1, "allowzero", reshape},
    {"SpaceToDepth", 1, {1, 1}, 1, "blocksize", space_to_depth},
    {"SpaceToDepth", 28, {1, 1}, 1, "blocksize mode", space_to_depth},
    {"Squeeze", 1, {1, 1}, 1, "axes", squeeze},
    {"Squeeze", 13, {1, 2}, 1, "", squeeze},
    {"Transpose", 1, {1, 1}, 1, "perm", transpose},
    {"Unsqueeze", 1, {1, 1}, 1, "axes", unsqueeze},
    {"Unsqueeze", 13, {2, 2}, 1, "", unsqueeze},
};

}  // namespace

std::span<const Rule> shape_rules() { return rows_of_shape; }

}  // namespace kiln::graph
