#include "graph/workloads/node_workloads.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace kiln::graph {
namespace {

std::optional<DType> dtype_of(Element type) {
    switch (type) {
        case Element::f32:
            return DType::f32;
        case Element::f16:
            return DType::f16;
        case Element::bf16:
            return DType::bf16;
        case Element::i8:
            return DType::i8;
        default:
            return {};
    }
}

// N, C, spatial... as N, spatial..., C.
std::vector<int64_t> channels_last(const Shape &shape) {
    std::vector<int64_t> extents = shape;
    std::rotate(extents.begin() + 1, extents.begin() + 2, extents.end());
    return extents;
}

Result<Workload> checked(Workload w) {
    w.output_dtype = w.dtype;
    fill_defaults(&w);
    if (Status status = validate(w); !status) return status.error();
    return w;
}

int64_t product(const Shape &shape, size_t begin, size_t end) {
    return std::accumulate(shape.begin() + std::ptrdiff_t(begin), shape.begin() + std::ptrdiff_t(end), int64_t{1},
                           std::multiplies<>());
}

int64_t matrices(const Shape &shape) { return product(shape, 0, shape.size() - 2); }

}  // namespace

Result<Workload> convolution_workload(const Convolution &op, const TypedShape &x, const TypedShape &weights) {
    const int rank = int(x.shape.size()) - 2;
    const std::optional<DType> dtype = dtype_of(x.type);
    if (rank < 1 || rank > 3) return unsupported("with " + std::to_string(rank) + " spatial axes");
    if (!dtype || *dtype == DType::i8) return unsupported("of " + std::string(name(x.type)));
    std::vector<int64_t> kernel(weights.shape.begin() + 2, weights.shape.end());
    kernel.push_back(weights.shape[1]);
    kernel.push_back(weights.shape[0]);
    Workload w = convolution(channels_last(x.shape), std::move(kernel));
    w.dtype = *dtype;
    w.strides = op.strides;
    w.lhs_dilation = op.input_dilation;
    w.rhs_dilation = op.dilations;
    w.padding = op.padding;
    w.feature_group_count = op.groups;
    w.epilogue = op.epilogue;
    return checked(std::move(w));
}

Result<Workload> product_workload(const TypedShape &a, const TypedShape &b) {
    const std::optional<DType> dtype = dtype_of(a.type);
    if (!dtype || *dtype == DType::i8) return unsupported("of " + std::string(name(a.type)));
    const int64_t rows = a.shape[a.shape.size() - 2], inner = a.shape.back(), columns = b.shape.back();
    const int64_t images_of_a = matrices(a.shape), images_of_b = matrices(b.shape);
    Workload w;
    if (images_of_b == 1) {
        w = convolution({images_of_a, rows, inner}, {1, inner, columns});
    } else if (images_of_a == 1) {
        w = convolution({images_of_b, columns, inner}, {1, inner, rows});
    } else {
        return unsupported("with a matrix for each image");
    }
    w.dtype = *dtype;
    return checked(std::move(w));
}

namespace {

// Axes in the order of memory, and the order in which a Transpose takes them.
struct Movement {
    Shape axes;
    std::vector<int> order;
    bool operator==(const Movement &) const = default;
};

Movement without_unit_axes(const Movement &movement) {
    Movement result;
    std::vector<int> place(movement.axes.size());
    for (size_t axis = 0; axis < movement.axes.size(); axis++) {
        place[axis] = int(result.axes.size());
        if (movement.axes[axis] != 1) result.axes.push_back(movement.axes[axis]);
    }
    for (const int axis : movement.order) {
        if (movement.axes[axis] != 1) result.order.push_back(place[axis]);
    }
    return result;
}

// One form for all that move the same: neighbours that stay neighbours are one axis.
Movement normalized(const Movement &movement) {
    const Movement plain = without_unit_axes(movement);
    std::vector<bool> joins(plain.axes.size() + 1, false);  // the axis belongs to the one before it
    for (size_t i = 1; i < plain.order.size(); i++) {
        if (plain.order[i] == plain.order[i - 1] + 1) joins[plain.order[i]] = true;
    }
    Movement result;
    std::vector<int> place(plain.axes.size());
    for (size_t axis = 0; axis < plain.axes.size(); axis++) {
        if (joins[axis]) {
            result.axes.back() *= plain.axes[axis];
        } else {
            result.axes.push_back(plain.axes[axis]);
        }
        place[axis] = int(result.axes.size()) - 1;
    }
    for (const int axis : plain.order) {
        if (!joins[axis]) result.order.push_back(place[axis]);
    }
    return result;
}

// The blocks that make `small` spatial extents of `large` ones; none where they do not divide.
std::optional<std::vector<int64_t>> blocks(const Shape &large, const Shape &small) {
    std::vector<int64_t> block;
    for (size_t i = 2; i < large.size(); i++) {
        if (small[i] <= 0 || large[i] % small[i] != 0 || large[i] == 0) return {};
        block.push_back(large[i] / small[i]);
    }
    return product(block, 0, block.size()) > 1 ? std::optional(block) : std::nullopt;
}

// N, blocks, C, spatial... becomes N, C, then each spatial extent with its block.
Movement depth_to_space(const Shape &input, const std::vector<int64_t> &block, int64_t channels) {
    const int rank = int(block.size());
    Movement movement{{input[0]}, {0, 1 + rank}};
    movement.axes.insert(movement.axes.end(), block.begin(), block.end());
    movement.axes.push_back(channels);
    movement.axes.insert(movement.axes.end(), input.begin() + 2, input.end());
    for (int d = 0; d < rank; d++) {
        movement.order.push_back(2 + rank + d);
        movement.order.push_back(1 + d);
    }
    return movement;
}

// N, C, each spatial extent with its block becomes N, blocks, C, spatial....
Movement space_to_depth(const Shape &input, const std::vector<int64_t> &block, const Shape &output) {
    const int rank = int(block.size());
    Movement movement{{input[0], input[1]}, {0}};
    for (int d = 0; d < rank; d++) {
        movement.axes.push_back(output[2 + d]);
        movement.axes.push_back(block[d]);
        movement.order.push_back(3 + 2 * d);
    }
    movement.order.push_back(1);
    for (int d = 0; d < rank; d++) movement.order.push_back(2 + 2 * d);
    return movement;
}

Workload movement_workload(Operation op, const Shape &input, std::vector<int64_t> block, DType dtype) {
    Workload w;
    w.op = op;
    w.dtype = dtype;
    w.input = channels_last(input);
    w.spatial_rank = int(block.size());
    w.block = std::move(block);
    return w;
}

}  // namespace

std::optional<Workload> shuffle_workload(const Shuffle &shuffle) {
    const Shape &input = shuffle.input.shape, &output = shuffle.output;
    const std::optional<DType> dtype = dtype_of(shuffle.input.type);
    if (!dtype || input.size() != output.size() || input.size() < 3 || input.size() > 5 || input[0] != output[0]) {
        return {};
    }
    const Movement movement = normalized({shuffle.split, shuffle.permutation});
    if (const auto block = blocks(output, input);
        block && movement == normalized(depth_to_space(input, *block, output[1]))) {
        const Result<Workload> w = checked(movement_workload(Operation::depth_to_space, input, *block, *dtype));
        return w ? std::optional(*w) : std::nullopt;
    }
    if (const auto block = blocks(input, output);
        block && movement == normalized(space_to_depth(input, *block, output))) {
        const Result<Workload> w = checked(movement_workload(Operation::space_to_depth, input, *block, *dtype));
        return w ? std::optional(*w) : std::nullopt;
    }
    return {};
}

}  // namespace kiln::graph
