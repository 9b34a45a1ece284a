// The operators of a graph: few, with all that they need in fields, so that a pass or a backend meets each idea once.
// ONNX has hundreds of spellings; graph/lower/ turns each into these.
//
// Axes are logical and count from the outermost, whatever the layout in memory. Activations of convolutions and pools
// are N, C, spatial...; weights are O, I of one group, spatial....
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "graph/constant_data.h"
#include "graph/expression.h"
#include "graph/shape.h"
#include "workload/workload.h"

namespace kiln::graph {

// y[n, o, p] = sum over (i, r) of w[o, i, r] * xe[n, group(o) * I + i, p * stride + r * dilation], without a kernel flip:
// xe is x with input_dilation - 1 zeros between neighbours, then padded with zeros; negative padding crops (XLA's
// ConvGeneralDilated). A transposed convolution is one with an input dilation whose weights were turned.
// A prologue changes the elements of x first, and padding and holes stay zero.
// Inputs: x, w, then what the epilogue takes in the order of its steps: bias, prelu, scale (O elements), add (the shape of the
// result); then what the prologue takes: bias, scale (one element for each channel of x).
//
// A separable one (workload/separable/separable.h) has a depthwise convolution of window `depthwise` in front. Strides, dilations and
// padding are of that one, w has a window of 1, the prologue lies between the two, and the last input are the depthwise weights, C,
// 1, spatial....
//
// One of i8 or u8 is quantized (workload/quantization/quantization.h): sums of (x - input_zero_point) * (w - kernel_zero_point)
// in i32, and padding stands for the zero point. Inputs: x, w, the zero points, then those of the epilogue: bias; scale,
// output_zero_point and result_bounds of `requantize_onnx`; what `add` behind it adds, addition_factors, addition_zero_point and
// addition_bounds. graph/convolution_inputs.h has their forms.
struct Convolution {
    std::vector<int64_t> strides, input_dilation, dilations;  // one entry a spatial axis
    std::vector<Padding> padding;
    int64_t groups = 1;
    std::vector<EpilogueStep> epilogue;
    std::vector<EpilogueStep> prologue;  // of floats
    Shape depthwise;                     // of floats; empty: there is none
    bool separate_sums = false;          // of floats: no kernel may mix the terms of sums (SpecialValues::exact)
    // For quantized ones only:
    bool kernel_zero_point = false;      // whether weights have one for each output channel; else it is 0
    Element result_type = Element::i32;  // of sums; i8 or u8 where they are requantized
    bool operator==(const Convolution &) const = default;
};

// Floats or integers. The product of the two innermost axes, M x K and K x N; the axes before are broadcast. Inputs: a, b, both
// of rank 2 or more.
struct MatrixProduct {
    bool operator==(const MatrixProduct &) const = default;
};

// Over windows of the spatial axes of one input. Padding never wins a maximum; where `counts_padding` holds, it counts as zeros
// in an average, though never what lies beyond `padding` (a window that ceil_mode added). A window of padding alone has the
// least value of the type as its maximum, and NaN as its average where padding does not count. Averages are of floats.
struct Pool {
    enum class Kind { maximum, average } kind = Kind::maximum;
    std::vector<int64_t> window, strides, dilations;  // one entry a spatial axis
    std::vector<Padding> padding;
    std::vector<int64_t> beyond;  // how far the last windows reach beyond `padding` at the end, for ceil_mode
    bool counts_padding = false;
    bool operator==(const Pool &) const = default;
};

// Any number of inputs, broadcast against each other and `shape`, which no input need fill.
struct Elementwise {
    Expression expression;
    Shape shape;  // of the result
    bool operator==(const Elementwise &) const = default;
};

// One input; the axes that are reduced stay with extent 1. Booleans have a maximum and a minimum, only floats a mean. A sum of
// nothing is 0, a product 1, a maximum the least value of the type, a mean NaN.
struct Reduce {
    enum class Kind { sum, mean, product, maximum, minimum } kind = Kind::sum;
    std::vector<int> axes;  // ascending; all of them where every element is reduced
    bool operator==(const Reduce &) const = default;
};

// One input. Over all elements of `axes` together:
//   softmax        exp(x - max) / sum of exp(x - max)
//   log_softmax    x - max - log(sum of exp(x - max))
//   mean_variance  (x - mean) / sqrt(variance + epsilon), the variance that of the population
struct Normalize {
    enum class Kind { softmax, log_softmax, mean_variance } kind = Kind::softmax;
    std::vector<int> axes;  // ascending
    double epsilon = 0;     // mean_variance
    bool operator==(const Normalize &) const = default;
};

// Each element of the result is a weighted sum of elements of the input, axis by axis: slices, pads, flips, gathers by
// constant indices and resizes are all of this kind. Axes without an entry stay as they are. Without weights exactly one
// element is taken, bit for bit. Weights are for floats. A fill of 0 is not one of -0.
struct Resample {
    struct Axis {
        int axis = 0;
        int taps = 1;                  // for each element of the result
        std::vector<int64_t> indices;  // taps for each element; outside: the element of the result is `fill`
        std::vector<double> weights;   // empty: one tap of weight 1
        bool reads_outside() const { return std::ranges::find(indices, outside) != indices.end(); }
        bool operator==(const Axis &) const = default;
    };
    static constexpr int64_t outside = -1;
    std::vector<Axis> axes;  // ascending
    double fill = 0;

    bool reads_outside() const { return std::ranges::any_of(axes, &Axis::reads_outside); }
    bool fills_with(double number) const { return std::bit_cast<uint64_t>(fill) == std::bit_cast<uint64_t>(number); }
    bool operator==(const Resample &other) const { return axes == other.axes && fills_with(other.fill); }
};

// Elements along `axis` by indices that are computed when the network runs. Inputs: x, and integers, whose axes take the place
// of that one in the result. An index outside of the axis takes 0.
struct Gather {
    int axis = 0;
    bool operator==(const Gather &) const = default;
};

// result axis i is input axis permutation[i].
struct Transpose {
    std::vector<int> permutation;
    bool operator==(const Transpose &) const = default;
};

// The same elements in row-major order of another shape.
struct Reshape {
    Shape shape;
    bool operator==(const Reshape &) const = default;
};

// One or more inputs, one after the other along `axis`.
struct Concat {
    int axis = 0;
    bool operator==(const Concat &) const = default;
};

using Operator = std::variant<Convolution, MatrixProduct, Pool, Elementwise, Reduce, Normalize, Resample, Gather,
                              Transpose, Reshape, Concat>;

std::string_view name(const Operator &op);  // "convolution", "average_pool", "softmax", ...
std::string to_text(const Operator &op);    // one line with all fields that are not at their default

struct TypedShape {
    Element type = Element::f32;
    Shape shape;
    bool operator==(const TypedShape &) const = default;
};

// Type and shape of the result, or why the operator cannot take these inputs. An operator that was accepted here can be
// computed: every index, count and size is within bounds.
Result<TypedShape> result_of(const Operator &op, const std::vector<TypedShape> &inputs);

}  // namespace kiln::graph
