// QLinearConv, QLinearMatMul, and QGemm and the QLinear operators of the domain com.microsoft: quantized values in, quantized values out.
// What is no sum of products is the operator of floats between dequantized inputs and a quantized result; passes join them.
#include <numeric>
#include <string>

#include "graph/lower/node/dynamic_quanta.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/rules/quantized_values.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"

namespace kiln::graph {
namespace {

// Inputs number `first` and the two behind it: a stored value, its scale, its zero point.
ValueId input_at(NodeLowering &node, int first) {
    return dequantized(node, node.input(first), {.scale = first + 1, .zero_point = first + 2});
}

// The result has a scale and a zero point at inputs `first` and the one behind; its type is that of the first input, else.
void store(NodeLowering &node, ValueId number, int first, Element type) {
    const Element to = node.has_input(first + 1) ? type_of_zero_point(node, first + 1) : type;
    node.result(quantized(node, number, {.scale = first, .zero_point = first + 1}, to));
}

// Channels of input and result are innermost where `channels_last` says so. Weights are as ever.
void qlinear_conv(NodeLowering &node) {
    const bool is_last = node.attributes.flag("channels_last", false);
    const ValueId x = is_last ? with_channels_first(node, node.input(0)) : node.input(0);
    const ValueId y =
        sum_of_quanta(node, {.x = x, .w = node.input(3), .x_zero_point = 2, .w_zero_point = 5},
                      Requantization{.x_scale = 1, .w_scale = 4, .y_scale = 6, .y_zero_point = 7, .bias = 8});
    node.result(is_last ? with_channels_last(node, y) : y);
}

// A scale of each row stands beside columns, as a zero point does.
ValueId scale_of(NodeLowering &node, int input, bool is_left) {
    check_scale(node, input);
    return along_operand(node, node.input(input), is_left);
}

// One, or one for each column.
void expect_elements(const NodeLowering &node, int input, std::string_view what, int64_t columns) {
    const Shape shape = node.shape(node.input(input));
    if (node.elements(node.input(input)) == 1 || shape == Shape{columns}) return;
    reject("its input '" + std::string(what) + "' of shape " + to_text(shape) + " must have one element" +
           (columns == 1 ? "" : ", or " + std::to_string(columns) + " for the columns of B"));
}

// A sum in i32 times the scale of its unit, as quanta whose scale and zero point stand at inputs `first` and the one behind. onnxruntime
// multiplies once, by the quotient of both scales.
ValueId requantized(NodeLowering &node, const Expression &sum, std::vector<ValueId> inputs, ValueId scale, int first) {
    expect_elements(node, first, "y_scale", 1);
    check_divisor(node, first);
    const ValueId factor = node.elementwise(operand(0) / operand(1), {scale, scale_of(node, first, false)});
    const auto behind = static_cast<int>(inputs.size());
    const Shape shape = node.shape(inputs[0]);
    inputs.push_back(factor);
    const ValueId number = node.add(Elementwise{cast(sum, Element::f32) * operand(behind), shape}, std::move(inputs));
    const Element to = node.has_input(first + 1) ? type_of_zero_point(node, first + 1) : node.type(node.input(0));
    return quantized_quotient(node, number, {.zero_point = first + 1}, to);
}

void qlinear_mat_mul(NodeLowering &node) {
    const ValueId sums =
        product_of_quanta(node, {.x = node.input(0), .w = node.input(3), .x_zero_point = 2, .w_zero_point = 5});
    const ValueId scale =
        node.elementwise(operand(0) * operand(1), {scale_of(node, 1, true), scale_of(node, 4, false)});
    node.result(requantized(node, operand(0), {sums}, scale, 6));
}

// (A B + C) * alpha * scale of A * scale of B, where sums and C are i32. Without a scale of the result it is floats.
void quantized_gemm(NodeLowering &node) {
    const QuantaInputs operands{.x = gemm_operand(node, 0, "transA"),
                                .w = gemm_operand(node, 3, "transB"),
                                .x_zero_point = 2,
                                .w_zero_point = 5};
    const ValueId sums = product_of_quanta(node, operands);
    expect_elements(node, 1, "a_scale", 1);
    expect_elements(node, 4, "b_scale", node.shape(sums)[1]);
    const ValueId scale = node.elementwise(constant(node.attributes.real("alpha", 1)) * operand(0) * operand(1),
                                           {scale_of(node, 1, true), scale_of(node, 4, false)});
    Expression total = operand(0);
    std::vector<ValueId> inputs{sums};
    if (node.has_input(6)) {
        const TypedShape bias{node.type(node.input(6)), node.shape(node.input(6))};
        const auto both = broadcast(bias.shape, node.shape(sums));
        if (bias.type != Element::i32) reject("its input 'C' is " + std::string(name(bias.type)) + "; needs i32");
        if (!both || *both != node.shape(sums)) {
            reject("its input 'C' of shape " + to_text(bias.shape) + " does not fit the product of shape " +
                   to_text(node.shape(sums)));
        }
        total = total + operand(1);
        inputs.push_back(node.input(6));
    }
    if (node.has_input(7)) return node.result(requantized(node, total, std::move(inputs), scale, 7));
    const auto behind = static_cast<int>(inputs.size());
    inputs.push_back(scale);
    node.result(
        node.add(Elementwise{cast(total, Element::f32) * operand(behind), node.shape(sums)}, std::move(inputs)));
}

// i32 times a scale, and a bias of floats at an input, where there is one.
void give_floats(NodeLowering &node, ValueId sums, ValueId scale, int bias) {
    Expression y = cast(operand(0), Element::f32) * operand(1);
    std::vector<ValueId> inputs{sums, scale};
    if (node.has_input(bias)) {
        const Shape shape = node.shape(sums);
        expect_elements(node, bias, "bias", shape.empty() ? 1 : shape.back());
        y = y + operand(2);
        const ValueId of_columns = node.input(bias);
        inputs.push_back(node.elements(of_columns) == 1 ? node.reshape(of_columns, {}) : of_columns);
    }
    node.result(node.add(Elementwise{std::move(y), node.shape(sums)}, std::move(inputs)));
}

// Quanta times quanta, as floats.
void mat_mul_integer_to_float(NodeLowering &node) {
    const ValueId sums =
        product_of_quanta(node, {.x = node.input(0), .w = node.input(1), .x_zero_point = 4, .w_zero_point = 5});
    const ValueId scale =
        node.elementwise(operand(0) * operand(1), {scale_of(node, 2, true), scale_of(node, 3, false)});
    give_floats(node, sums, scale, 6);
}

// The same of floats on the left, which are quantized by their range.
void dynamic_quantize_mat_mul(NodeLowering &node) {
    const DynamicQuanta a = quantized_dynamically(node, node.input(0));
    const ValueId sums = product_of_quanta(
        node, {.x = a.numbers, .w = node.input(1), .w_zero_point = 3, .known_x_zero_point = a.zero_point});
    give_floats(node, sums, node.elementwise(operand(0) * operand(1), {a.scale, scale_of(node, 2, false)}), 4);
}

void qlinear_where(NodeLowering &node) {
    const ValueId y = node.elementwise(select(operand(0), operand(1), operand(2)),
                                       {node.input(0), input_at(node, 1), input_at(node, 4)});
    store(node, y, 7, node.type(node.input(1)));
}

template<Function function>
void qlinear_binary(NodeLowering &node) {
    const ValueId y = node.elementwise(apply(function, operand(0), operand(1)), {input_at(node, 0), input_at(node, 3)});
    store(node, y, 6, node.type(node.input(0)));
}

Expression sigmoid(const NodeLowering &) { return apply(Function::sigmoid, operand(0)); }

Expression leaky_relu(const NodeLowering &node) {
    const Expression x = operand(0);
    return select(less(x, constant(0)), x * constant(node.attributes.real("alpha", 0.01)), x);
}

template<Expression (*function)(const NodeLowering &)>
void qlinear_unary(NodeLowering &node) {
    store(node, node.elementwise(function(node), {input_at(node, 0)}), 3, node.type(node.input(0)));
}

void qlinear_softmax(NodeLowering &node) {
    const ValueId x = input_at(node, 0);
    const int axis = axis_of(node.attributes.integer("axis", -1), node.rank(x));
    Normalize op{.kind = Normalize::Kind::softmax, .axes = {axis}};
    // Before opset 13 all axes from that one on were one.
    if (node.attributes.integer("opset", 13) < 13) {
        for (int next = axis + 1; next < node.rank(x); next++) op.axes.push_back(next);
    }
    store(node, node.add(std::move(op), {x}), 3, node.type(node.input(0)));
}

// Channels are innermost where `channels_last` says so.
template<typename Compute>
void pooled(NodeLowering &node, const Compute &compute) {
    const ValueId x = input_at(node, 0);
    if (node.rank(x) < 3) reject("its input of shape " + to_text(node.shape(x)) + " has no spatial axes");
    const bool is_last = node.attributes.flag("channels_last", false);
    const ValueId y = compute(is_last ? with_channels_first(node, x) : x);
    store(node, is_last ? with_channels_last(node, y) : y, 3, node.type(node.input(0)));
}

// Where padding counts, so does what ceil_mode adds: onnxruntime, which defines the operator, divides by the whole window then.
void qlinear_average_pool(NodeLowering &node) {
    const bool counts_padding = node.attributes.flag("count_include_pad", false);
    pooled(node, [&](ValueId x) {
        Window window = window_of_pool(node, x, Lacking::padding);
        for (size_t d = 0; counts_padding && d < window.beyond.size(); d++) {
            window.padding[d].hi += window.beyond[d];
            window.beyond[d] = 0;
        }
        return node.add(Pool{.kind = Pool::Kind::average,
                             .window = window.extents,
                             .strides = window.strides,
                             .dilations = window.dilations,
                             .padding = window.padding,
                             .beyond = window.beyond,
                             .counts_padding = counts_padding},
                        {x});
    });
}

void qlinear_global_average_pool(NodeLowering &node) {
    pooled(node, [&](ValueId x) {
        std::vector<int> axes(node.rank(x) - 2);
        std::iota(axes.begin(), axes.end(), 2);
        return node.add(Reduce{.kind = Reduce::Kind::mean, .axes = axes}, {x});
    });
}

// Scale and zero point of the result, then three inputs for each part.
void qlinear_concat(NodeLowering &node) {
    if ((node.listed_input_count() - 2) % 3 != 0)
        reject("it has " + std::to_string(node.listed_input_count()) +
               " inputs; needs 2, and a value, a scale and a zero point for each part");
    std::vector<ValueId> parts;
    for (int first = 2; first < node.input_count(); first += 3) parts.push_back(input_at(node, first));
    if (parts.empty()) reject("it joins nothing");
    const int axis = axis_of(node.attributes.integer("axis"), node.rank(parts[0]));
    store(node, node.add(Concat{axis}, std::move(parts)), 0, node.type(node.input(2)));
}

constexpr std::string_view pool_attributes =
    "auto_pad ceil_mode channels_last count_include_pad kernel_shape pads strides";

constexpr Rule rows_of_quantized[] = {
    {"QLinearConv", 10, {8, 9}, 1, window_attributes, qlinear_conv},
    {"QLinearMatMul", 10, {8, 8}, 1, "", qlinear_mat_mul},
    {"QLinearConv",
     1,
     {8, 9},
     1,
     "auto_pad channels_last dilations group kernel_shape pads strides",
     qlinear_conv,
     microsoft},
    {"DynamicQuantizeMatMul", 1, {3, 5}, 1, "", dynamic_quantize_mat_mul, microsoft},
    {"MatMulIntegerToFloat", 1, {4, 7}, 1, "", mat_mul_integer_to_float, microsoft},
    {"QGemm", 1, {6, 9}, 1, "alpha transA transB", quantized_gemm, microsoft},
    {"QLinearAdd", 1, {2, 8}, 1, "", qlinear_binary<Function::add>, microsoft},
    {"QLinearMul", 1, {2, 8}, 1, "", qlinear_binary<Function::multiply>, microsoft},
    {"QLinearAveragePool", 1, {2, 5}, 1, pool_attributes, qlinear_average_pool, microsoft},
    {"QLinearGlobalAveragePool", 1, {2, 5}, 1, "channels_last", qlinear_global_average_pool, microsoft},
    {"QLinearConcat", 1, {1, Rule::any}, 1, "axis", qlinear_concat, microsoft},
    {"QLinearLeakyRelu", 1, {2, 5}, 1, "alpha", qlinear_unary<leaky_relu>, microsoft},
    {"QLinearSigmoid", 1, {2, 5}, 1, "", qlinear_unary<sigmoid>, microsoft},
    {"QLinearSoftmax", 1, {2, 5}, 1, "axis opset", qlinear_softmax, microsoft},
    {"QLinearWhere", 1, {9, 9}, 1, "", qlinear_where, microsoft},
};

}  // namespace

std::span<const Rule> quantized_rules() { return rows_of_quantized; }

}  // namespace kiln::graph
