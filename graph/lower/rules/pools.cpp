// Pools over windows, over whole planes and over regions; and Col2Im, which adds windows up.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/lower/composed/roi_align.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"

namespace kiln::graph {
namespace {

Pool pool_over(const NodeLowering &node, ValueId x, Pool::Kind kind) {
    const Window window = window_of_pool(node, x, node.opset() < 19 ? Lacking::padding : Lacking::beyond);
    return {.kind = kind,
            .window = window.extents,
            .strides = window.strides,
            .dilations = window.dilations,
            .padding = window.padding,
            .beyond = window.beyond};
}

Pool pool(const NodeLowering &node, Pool::Kind kind) { return pool_over(node, node.input(0), kind); }

void max_pool(NodeLowering &node) { node.result(node.add(pool(node, Pool::Kind::maximum), {node.input(0)})); }

void max_pool_of_channels_last(NodeLowering &node) {
    const ValueId x = with_channels_first(node, node.input(0));
    node.result(with_channels_last(node, node.add(pool_over(node, x, Pool::Kind::maximum), {x})));
}

void average_pool(NodeLowering &node) {
    Pool op = pool(node, Pool::Kind::average);
    op.counts_padding = node.attributes.flag("count_include_pad", false);
    node.result(node.add(std::move(op), {node.input(0)}));
}

// (sum of |x|^p)^(1/p), where `sum` adds up what it is given.
template<typename Sum>
ValueId norm(NodeLowering &node, double p, const Sum &sum) {
    const ValueId x = node.input(0);
    const NumbersOf number{node.type(x)};
    if (!(p > 0) || std::isinf(p)) reject("its attribute 'p' is " + std::to_string(p) + ", which must be positive");
    if (p == 1) return sum(node.elementwise(absolute(operand(0)), {x}));
    if (p == 2) {
        const ValueId squares = node.elementwise(operand(0) * operand(0), {x});
        return node.elementwise(square_root(operand(0)), {sum(squares)});
    }
    const ValueId powers = node.elementwise(power(absolute(operand(0)), number(p)), {x});
    return node.elementwise(power(operand(0), number(1 / p)), {sum(powers)});
}

double norm_exponent(const NodeLowering &node) {
    return node.opset() < 2 ? node.attributes.real("p", 2) : static_cast<double>(node.attributes.integer("p", 2));
}

// A sum over windows is their average times their size, where all that they cover counts as zeros.
void lp_pool(NodeLowering &node) {
    Pool op = pool(node, Pool::Kind::average);
    op.counts_padding = true;
    double size = 1;
    for (size_t d = 0; d < op.window.size(); d++) {
        op.padding[d].hi += op.beyond[d];
        op.beyond[d] = 0;
        size *= static_cast<double>(op.window[d]);
    }
    const auto sum = [&](ValueId x) {
        const NumbersOf number{node.type(x)};
        return node.elementwise(operand(0) * number(size), {node.add(op, {x})});
    };
    node.result(norm(node, norm_exponent(node), sum));
}

std::vector<int> spatial_axes(const NodeLowering &node) {
    const int rank = node.rank(node.input(0));
    if (rank < 2) reject("its input of shape " + to_text(node.shape(node.input(0))) + " has no axes N and C");
    std::vector<int> axes(rank - 2);
    std::iota(axes.begin(), axes.end(), 2);
    return axes;
}

template<Reduce::Kind kind>
void global_pool(NodeLowering &node) {
    node.result(node.add(Reduce{.kind = kind, .axes = spatial_axes(node)}, {node.input(0)}));
}

void global_lp_pool(NodeLowering &node) {
    const auto sum = [&](ValueId x) { return node.add(Reduce{Reduce::Kind::sum, spatial_axes(node)}, {x}); };
    node.result(norm(node, norm_exponent(node), sum));
}

// x / (bias + alpha * mean of the squares of neighbouring channels)^beta. Channels become the spatial axis of a pool.
void local_response_normalization(NodeLowering &node) {
    const ValueId x = node.input(0);
    const Shape shape = node.shape(x);
    const int64_t size = node.attributes.integer("size");
    if (shape.size() < 2) reject("its input of shape " + to_text(shape) + " has no axes N and C");
    if (size < 1 || size > most_elements) reject("its attribute 'size' is " + std::to_string(size));
    Shape planes{shape[0], 1, shape[1], 1};
    for (size_t d = 2; d < shape.size(); d++) planes[3] *= shape[d];
    const Pool neighbours{.kind = Pool::Kind::average,
                          .window = {size, 1},
                          .strides = {1, 1},
                          .dilations = {1, 1},
                          .padding = {{(size - 1) / 2, size / 2}, {0, 0}},
                          .beyond = {0, 0},
                          .counts_padding = true};
    const ValueId squares = node.reshape(node.elementwise(operand(0) * operand(0), {x}), planes);
    const ValueId means = node.reshape(node.add(neighbours, {squares}), shape);
    const Attributes &a = node.attributes;
    const NumbersOf number{node.type(x)};
    const Expression base = number(a.real("bias", 1)) + number(a.real("alpha", 1e-4f)) * operand(1);
    node.result(node.elementwise(operand(0) / power(base, number(a.real("beta", 0.75))), {x, means}));
}

// Col2Im merges the taps and the windows of one axis; this says which of them each place of the image adds up.
struct Overlap {
    int64_t most = 1;              // elements for one place
    std::vector<int64_t> indices;  // most x places of the image
};

Overlap overlap_of(const Window &window, size_t d, int64_t windows, int64_t extent) {
    const int64_t elements = checked_count({window.extents[d], windows});
    check_places(extent);
    check_places(elements);
    const auto place_of = [&](int64_t i) {
        return i % windows * window.strides[d] + i / windows * window.dilations[d] - window.padding[d].lo;
    };
    std::vector<int64_t> counts(static_cast<size_t>(extent));
    const auto each_in_image = [&](auto &&visit) {
        for (int64_t i = 0; i < elements; i++) {
            if (const int64_t place = place_of(i); place >= 0 && place < extent) visit(i, static_cast<size_t>(place));
        }
    };
    each_in_image([&](int64_t, size_t place) { counts[place]++; });
    Overlap overlap{.most = std::max<int64_t>(std::ranges::max(counts), 1), .indices = {}};
    check_places(overlap.most * extent);
    overlap.indices.assign(static_cast<size_t>(overlap.most * extent), Resample::outside);
    each_in_image(
        [&](int64_t i, size_t place) { overlap.indices[static_cast<size_t>(--counts[place] * extent) + place] = i; });
    return overlap;
}

Shape window_counts(const Window &window, const Shape &image) {
    Shape counts;
    for (size_t d = 0; d < image.size(); d++) {
        const int64_t room = image[d] + window.padding[d].lo + window.padding[d].hi - window.reach(d);
        if (room < 0)
            reject("its image of " + to_text(image) + " has no room for a block of " + to_text(window.extents));
        counts.push_back(room / window.strides[d] + 1);
    }
    return counts;
}

// A place takes what each window has for it, along every axis. Where windows overlap, a sum adds them up.
void col2im(NodeLowering &node) {
    const Shape shape = node.shape(node.input(0));
    const Shape image = node.known_integers(1, "image_shape"), block = node.known_integers(2, "block_shape");
    constexpr int64_t most = int64_t{1} << 31;
    const auto is_bad = [](int64_t extent) { return extent < 1 || extent >= most; };
    if (image.empty() || image.size() != block.size() || std::ranges::any_of(image, is_bad) ||
        std::ranges::any_of(block, is_bad))
        reject("its image of " + to_text(image) + " does not consist of blocks of " + to_text(block));
    const Window window = window_of_rank(node, image.size(), block);
    if (std::ranges::any_of(window.padding, [](const Padding &side) { return side.lo < 0 || side.hi < 0; }))
        reject("its attribute 'pads' has negative entries");
    const Shape counts = window_counts(window, image);
    const int64_t taps = checked_count(block), windows = checked_count(counts);
    if (shape.size() != 3 || shape[1] % taps != 0 || shape[2] != windows) {
        reject("its input of shape " + to_text(shape) + " is not Nx(C * " + std::to_string(taps) + ")x" +
               std::to_string(windows) + ", as its image of " + to_text(image) + " and its blocks of " +
               to_text(block) + " ask for");
    }
    const Shape outer{shape[0], shape[1] / taps};
    Shape apart = outer, merged = outer, spread = outer, result = outer;
    apart.insert(apart.end(), block.begin(), block.end());
    apart.insert(apart.end(), counts.begin(), counts.end());
    result.insert(result.end(), image.begin(), image.end());
    check_size(apart);
    check_size(result);
    std::vector<int> permutation{0, 1}, overlapping;
    std::vector<IndexedAxis> axes;
    for (size_t d = 0; d < image.size(); d++) {
        const int axis = static_cast<int>(d) + 2;
        Overlap overlap = overlap_of(window, d, counts[d], image[d]);
        permutation.insert(permutation.end(), {axis, axis + static_cast<int>(image.size())});
        merged.push_back(block[d] * counts[d]);
        if (overlap.most > 1) overlapping.push_back(static_cast<int>(spread.size()));
        spread.insert(spread.end(), {overlap.most, image[d]});
        axes.push_back({axis, std::move(overlap.indices)});
    }
    const ValueId columns = node.reshape(node.transpose(node.reshape(node.input(0), apart), permutation), merged);
    ValueId y = take(node, columns, std::move(axes));
    if (!overlapping.empty()) y = node.add(Reduce{Reduce::Kind::sum, overlapping}, {node.reshape(y, spread)});
    node.result(node.reshape(y, result));
}

constexpr Rule rows_of_pool[] = {
    {"AveragePool", 1, {1, 1}, 1, "auto_pad kernel_shape pads strides", average_pool},
    {"AveragePool", 7, {1, 1}, 1, "auto_pad count_include_pad kernel_shape pads strides", average_pool},
    {"AveragePool", 10, {1, 1}, 1, "auto_pad ceil_mode count_include_pad kernel_shape pads strides", average_pool},
    {"AveragePool",
     19,
     {1, 1},
     1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides",
     average_pool},
    {"Col2Im", 18, {3, 3}, 1, "dilations pads strides", col2im},
    {"GlobalAveragePool", 1, {1, 1}, 1, "", global_pool<Reduce::Kind::mean>},
    {"GlobalLpPool", 1, {1, 1}, 1, "p", global_lp_pool},
    {"GlobalMaxPool", 1, {1, 1}, 1, "", global_pool<Reduce::Kind::maximum>},
    {"LRN", 1, {1, 1}, 1, "alpha beta bias size", local_response_normalization},
    {"LpPool", 1, {1, 1}, 1, "auto_pad kernel_shape p pads strides", lp_pool},
    {"LpPool", 18, {1, 1}, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", lp_pool},
    {"MaxPool", 1, {1, 1}, 1, "auto_pad kernel_shape pads strides", max_pool},
    {"MaxPool", 8, {1, 1}, 2, "auto_pad kernel_shape pads storage_order strides", max_pool},
    {"MaxPool", 10, {1, 1}, 2, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides", max_pool},
    {"NhwcMaxPool",
     1,
     {1, 1},
     1,
     "auto_pad ceil_mode dilations kernel_shape pads strides",
     max_pool_of_channels_last,
     microsoft},
    {"RoiAlign", 10, {3, 3}, 1, "mode output_height output_width sampling_ratio spatial_scale", roi_align},
    {"RoiAlign",
     16,
     {3, 3},
     1,
     "coordinate_transformation_mode mode output_height output_width sampling_ratio spatial_scale",
     roi_align},
};

}  // namespace

std::span<const Rule> pool_rules() { return rows_of_pool; }

}  // namespace kiln::graph
