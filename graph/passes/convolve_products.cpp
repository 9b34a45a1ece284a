// Matrix products with a constant are convolutions with a window of 1, so that one kind of kernel computes them: rows are
// pixels, columns are channels. The transposes around them move nothing where channels are innermost in memory.
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "graph/passes/passes.h"
#include "graph/passes/product_convolution.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {
namespace {

constexpr size_t most_spatial_axes = 3;  // of a convolution

int64_t product(const Shape &shape, size_t begin, size_t end) {
    return std::accumulate(shape.begin() + begin, shape.begin() + end, int64_t{1}, std::multiplies<>());
}

bool is_one_matrix(const Shape &shape) { return product(shape, 0, shape.size() - 2) == 1; }

// Weights O, I, 1, ... of a constant matrix; `transposed` where it is I x O.
ValueId weights(Rewriting &graph, ValueId matrix, bool transposed, size_t spatial_axes) {
    const Shape &shape = graph.shape(matrix);
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    ValueId id = graph.between(Reshape{{rows, columns}}, {matrix});
    if (transposed) id = graph.between(Transpose{{1, 0}}, {id});
    Shape form = transposed ? Shape{columns, rows} : Shape{rows, columns};
    form.resize(2 + spatial_axes, 1);
    return graph.between(Reshape{form}, {id});
}

Convolution pointwise(size_t spatial_axes) {
    const std::vector<int64_t> ones(spatial_axes, 1);
    return {.strides = ones, .input_dilation = ones, .dilations = ones, .padding = std::vector<Padding>(spatial_axes)};
}

struct Product {
    ValueId x, constant;
    Shape result;
};

// a x constant: ..., M, K becomes N, K, ..., M and back.
ValueId with_constant_columns(Rewriting &graph, const Product &product_of, const AddConvolution &add) {
    const auto &[a, constant, result] = product_of;
    Shape form = graph.shape(a);
    form.insert(form.begin(), result.size() - form.size(), 1);
    if (form.size() == 2) form.insert(form.begin(), 1);
    const size_t axes = form.size();
    if (axes > 2 + most_spatial_axes) form = {product(form, 0, axes - 2), form[axes - 2], form[axes - 1]};
    const int last = static_cast<int>(form.size()) - 1;
    std::vector<int> inward{0, last}, outward{0};
    for (int axis = 1; axis < last; axis++) {
        inward.push_back(axis);
        outward.push_back(axis + 1);
    }
    outward.push_back(1);
    const size_t spatial_axes = form.size() - 2;
    ValueId id = graph.between(Reshape{form}, {a});
    id = graph.between(Transpose{inward}, {id});
    id = add(graph, pointwise(spatial_axes), id, weights(graph, constant, true, spatial_axes));
    id = graph.between(Transpose{outward}, {id});
    return graph.result(Reshape{result}, {id});
}

// constant x b: ..., K, N is a stack of images of one row already.
ValueId with_constant_rows(Rewriting &graph, const Product &product_of, const AddConvolution &add) {
    const auto &[b, constant, result] = product_of;
    const Shape &shape = graph.shape(b);
    const Shape form{product(shape, 0, shape.size() - 2), shape[shape.size() - 2], shape.back()};
    ValueId id = graph.between(Reshape{form}, {b});
    id = add(graph, pointwise(1), id, weights(graph, constant, false, 1));
    return graph.result(Reshape{result}, {id});
}

std::optional<ValueId> convolve(Rewriting &graph, const Node &node) {
    if (!std::holds_alternative<MatrixProduct>(node.op)) return {};
    if (!is_float(graph.value(node.inputs[0]).form.type)) return {};
    return convolved_product(graph, node.inputs[0], node.inputs[1],
                             [](Rewriting &now, const Convolution &op, ValueId x, ValueId weights) {
                                 return now.between(op, {x, weights});
                             });
}

}  // namespace

std::optional<ConstantMatrix> constant_matrix(const Rewriting &graph, ValueId a, ValueId b) {
    if (graph.is_constant(b) && is_one_matrix(graph.shape(b))) return ConstantMatrix::right;
    if (graph.is_constant(a) && is_one_matrix(graph.shape(a))) return ConstantMatrix::left;
    return {};
}

std::optional<ValueId> convolved_product(Rewriting &graph, ValueId a, ValueId b, const AddConvolution &add) {
    for (ValueId id : {a, b}) {
        if (std::ranges::count(graph.shape(id), 0) > 0) return {};
    }
    const auto constant = constant_matrix(graph, a, b);
    if (!constant) return {};
    Shape result = graph.shape(a).size() > graph.shape(b).size() ? graph.shape(a) : graph.shape(b);
    const bool is_right = *constant == ConstantMatrix::right;
    const Shape &other = graph.shape(is_right ? a : b), &matrix = graph.shape(is_right ? b : a);
    std::copy(other.begin(), other.end(), result.end() - static_cast<std::ptrdiff_t>(other.size()));
    std::fill(result.begin(), result.end() - static_cast<std::ptrdiff_t>(other.size()), 1);
    if (is_right) {
        result.back() = matrix.back();
        return with_constant_columns(graph, {a, b, result}, add);
    }
    result[result.size() - 2] = matrix[matrix.size() - 2];
    return with_constant_rows(graph, {b, a, result}, add);
}

Graph convolve_products(const Graph &graph) { return rewrite(graph, convolve); }

}  // namespace kiln::graph
