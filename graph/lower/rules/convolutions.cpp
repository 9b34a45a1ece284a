// Conv, ConvTranspose, DeformConv and CausalConvWithState, and convolutions that onnxruntime has fused.
#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/lower/composed/deformed_columns.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/rule.h"
#include "graph/lower/rules/window.h"

namespace kiln::graph {
namespace {

std::vector<int64_t> spatial(const Shape &weights) {
    if (weights.size() < 3) reject("its weights of shape " + to_text(weights) + " have no spatial axes");
    return {weights.begin() + 2, weights.end()};
}

ValueId with_bias(NodeLowering &node, Convolution op, ValueId x, ValueId w, int bias = 2) {
    std::vector<ValueId> inputs{x, w};
    if (node.has_input(bias)) {
        op.epilogue = {{EpilogueStep::Kind::bias}};
        inputs.push_back(node.input(bias));
    }
    return node.add(std::move(op), std::move(inputs));
}

void conv(NodeLowering &node) {
    const ValueId x = node.input(0), w = node.input(1);
    node.result(with_bias(node, convolution_over(node, x, w), x, w));
}

// The activation of a fused convolution; its numbers stand in a list.
Expression activation_of_convolution(const NodeLowering &node, Element type) {
    const std::string name = node.attributes.text("activation", "");
    const std::vector<double> numbers = node.attributes.reals("activation_params");
    if (name.empty()) return operand(0);
    const size_t needed = name == "Clip" || name == "HardSigmoid" ? 2 : name == "LeakyRelu" ? 1 : 0;
    if (needed > 0 && numbers.size() != needed) {
        reject("its activation " + shown(name) + " has " + std::to_string(numbers.size()) + " numbers; needs " +
               std::to_string(needed));
    }
    if (name == "Clip") return least(greatest(operand(0), constant(numbers[0], type)), constant(numbers[1], type));
    std::vector<onnx::Attribute> named;
    for (size_t i = 0; i < needed; i++) named.push_back({i == 0 ? "alpha" : "beta", static_cast<float>(numbers[i])});
    return fused_activation(name, std::move(named), operand(0), type);
}

// The activation of the sum of a convolution and input 3.
ValueId fused_sum(NodeLowering &node, ValueId sum) {
    std::vector<ValueId> terms{sum};
    if (node.has_input(3)) terms.push_back(node.input(3));
    const Expression y = activation_of_convolution(node, node.type(sum));
    const Shape shape = node.shape(sum);
    const ValueId result = terms.size() == 1 ? node.elementwise(y, terms)
                                             : node.elementwise(compose(y, 0, operand(0) + operand(1)), terms);
    if (node.shape(result) != shape)
        reject("what it adds, of shape " + to_text(node.shape(terms.back())) + ", does not fit " + to_text(shape));
    return result;
}

void fused_conv(NodeLowering &node) {
    const ValueId x = node.input(0), w = node.input(1);
    node.result(fused_sum(node, with_bias(node, convolution_over(node, x, w), x, w)));
}

// The same of an input whose channels are its last axis, and so are those of the result and of what is added. Weights are as ever.
void fused_conv_of_channels_last(NodeLowering &node) {
    const ValueId x = with_channels_first(node, node.input(0)), w = node.input(1);
    node.result(fused_sum(node, with_channels_last(node, with_bias(node, convolution_over(node, x, w), x, w))));
}

constexpr std::string_view fused_attributes =
    "activation activation_params auto_pad dilations group kernel_shape pads strides";

// Weights C, M of one group, spatial... as those of the convolution that computes the same: M, C of one group, and turned
// about along every spatial axis.
ValueId turned_weights(NodeLowering &node, ValueId w, int64_t groups) {
    const Shape shape = node.shape(w);
    if (groups < 1 || shape[0] % groups != 0) {
        reject("its weights of shape " + to_text(shape) + " do not divide into " + std::to_string(groups) + " groups");
    }
    Shape grouped{groups, shape[0] / groups};
    grouped.insert(grouped.end(), shape.begin() + 1, shape.end());
    std::vector<int> permutation(grouped.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::swap(permutation[1], permutation[2]);
    Shape merged = shape;
    merged[0] = groups * shape[1];
    merged[1] = shape[0] / groups;
    const ValueId swapped = node.reshape(node.transpose(node.reshape(w, grouped), permutation), merged);
    Resample turn;
    for (size_t d = 2; d < shape.size(); d++) {
        if (shape[d] > 1)
            turn.axes.push_back({.axis = static_cast<int>(d), .indices = index_range(shape[d] - 1, shape[d], -1)});
    }
    return turn.axes.empty() ? swapped : node.add(turn, {swapped});
}

// A list of sizes, one a spatial axis; empty where the node does not say it.
std::vector<int64_t> sizes(const NodeLowering &node, std::string_view name, size_t rank) {
    std::vector<int64_t> values = node.attributes.integers(name);
    if (name == "output_shape" && values.size() == rank + 2) {  // some models list N and C, too
        values.erase(values.begin(), values.begin() + 2);
    }
    if (!values.empty() && values.size() != rank) {
        reject("its attribute " + shown(name) + " has " + std::to_string(values.size()) + " entries for " +
               std::to_string(rank) + " spatial axes");
    }
    for (const int64_t value : values) {
        if (value < 0 || value > most_elements) {
            reject("its attribute " + shown(name) + " has an entry " + std::to_string(value));
        }
    }
    return values;
}

// What is cut off both sides of everything that the input reaches.
struct Crop {
    std::vector<Padding> sides;
    std::vector<int64_t> more_at_end;  // rows that the input does not reach
};

Crop crop(const NodeLowering &node, const Window &window, const Shape &x) {
    const size_t rank = window.extents.size();
    const AutoPad mode = auto_pad(node.attributes);
    const bool same = mode == AutoPad::same_upper || mode == AutoPad::same_lower;
    const std::vector<int64_t> output = sizes(node, "output_shape", rank);
    const std::vector<int64_t> added = sizes(node, "output_padding", rank);
    Crop result{window.padding, added.empty() ? std::vector<int64_t>(rank, 0) : added};
    for (size_t d = 0; d < rank; d++) {
        if (x[d + 2] > most_elements / window.strides[d]) reject("its strides make its result too large");
        if (mode == AutoPad::valid) result.sides[d] = {};
        if (output.empty() && !same) continue;
        const int64_t whole = (x[d + 2] - 1) * window.strides[d] + window.reach(d) + result.more_at_end[d];
        const int64_t total = whole - (output.empty() ? x[d + 2] * window.strides[d] : output[d]);
        result.sides[d] = halves(std::max<int64_t>(total, 0), mode == AutoPad::same_upper);
        if (!output.empty()) result.more_at_end[d] += std::max<int64_t>(-total, 0);
    }
    return result;
}

// A transposed convolution is one of the input with holes, with weights turned about.
void conv_transpose(NodeLowering &node) {
    const ValueId x = node.input(0), w = node.input(1);
    const Window window = window_without_auto_pad(node, x, spatial(node.shape(w)));
    const Crop cut = crop(node, window, node.shape(x));
    Convolution op{.strides = std::vector<int64_t>(window.strides.size(), 1),
                   .input_dilation = window.strides,
                   .dilations = window.dilations,
                   .groups = node.attributes.integer("group", 1)};
    for (size_t d = 0; d < window.extents.size(); d++) {
        const int64_t full = window.reach(d) - 1;
        op.padding.push_back({full - cut.sides[d].lo, full - cut.sides[d].hi + cut.more_at_end[d]});
    }
    const ValueId turned = turned_weights(node, w, op.groups);
    node.result(with_bias(node, std::move(op), x, turned));
}

// What the taps of each window read are channels of one element, and a convolution of 1x1 multiplies them by the weights.
void deform_conv(NodeLowering &node) {
    node.compute_in_f32({node.type(node.input(0))});
    const ValueId x = node.input(0), w = node.input(1);
    const Window window = window_without_auto_pad(node, x, spatial(node.shape(w)));
    const int64_t groups = node.attributes.integer("group", 1);
    const ValueId columns =
        deformed_columns(node, {window.extents, window.strides, window.dilations, window.padding, groups});
    const Shape weights = node.shape(w);
    const ValueId rows =
        node.reshape(node.transpose(w, {0, 2, 3, 1}), {weights[0], weights[1] * weights[2] * weights[3], 1, 1});
    node.result(with_bias(node,
                          {.strides = {1, 1},
                           .input_dilation = {1, 1},
                           .dilations = {1, 1},
                           .padding = std::vector<Padding>(2),
                           .groups = groups},
                          columns, rows, 3));
}

// A past of zeros is none: it is padding as well.
bool has_past(const NodeLowering &node, const Shape &past) {
    constexpr int input = 3;
    if (!node.has_input(input)) return false;
    const ValueId given = node.input(input);
    if (node.shape(given) != past)
        reject("its input 'past_state' of shape " + to_text(node.shape(given)) + " is not " + to_text(past));
    if (node.type(given) != node.type(node.input(0))) {
        reject("its input 'past_state' is " + std::string(name(node.type(given))) + ", and its input " +
               std::string(name(node.type(node.input(0)))));
    }
    return past[2] > 0 && !node.is_known_zero(given);
}

void causal_conv(NodeLowering &node) {
    const ValueId x = node.input(0), w = node.input(1);
    const Shape shape = node.shape(x), weights = node.shape(w);
    if (!is_float(node.type(x))) refuse("its input is " + std::string(name(node.type(x))));
    if (shape.size() != 3) reject("its input of shape " + to_text(shape) + " has not three axes");
    if (weights.size() != 3 || weights[2] < 1 || weights != Shape{shape[1], 1, weights[2]}) {
        reject("its weights of shape " + to_text(weights) + " are not " + std::to_string(shape[1]) +
               "x1xK, as its input of shape " + to_text(shape) + " asks for");
    }
    const std::string activation = node.attributes.text("activation", "none");
    if (activation != "none" && activation != "silu" && activation != "swish")
        reject("its attribute 'activation' is " + shown(activation) + ", which must be none, silu or swish");
    const int64_t before = weights[2] - 1;
    const bool is_joined = has_past(node, {shape[0], shape[1], before});
    const ValueId whole = is_joined ? node.add(Concat{2}, {node.input(3), x}) : x;
    const ValueId sum = with_bias(node,
                                  {.strides = {1},
                                   .input_dilation = {1},
                                   .dilations = {1},
                                   .padding = {Padding{is_joined ? 0 : before, 0}},
                                   .groups = shape[1]},
                                  whole, w);
    node.result(activation == "none" ? sum
                                     : node.elementwise(operand(0) * apply(Function::sigmoid, operand(0)), {sum}));
    if (!node.wants(1)) return;
    std::vector<int64_t> last = index_range(node.shape(whole)[2] - before, before);
    std::ranges::replace_if(
        last, [](int64_t place) { return place < 0; }, Resample::outside);
    node.result(take(node, whole, {{2, std::move(last)}}), 1);
}

constexpr Rule rows_of_convolution[] = {
    {"CausalConvWithState", 27, {2, 4}, 2, "activation", causal_conv},
    {"Conv", 1, {2, 3}, 1, window_attributes, conv},
    {"ConvTranspose",
     1,
     {2, 3},
     1,
     "auto_pad dilations group kernel_shape output_padding output_shape pads strides",
     conv_transpose},
    {"DeformConv", 19, {3, 5}, 1, "dilations group kernel_shape offset_group pads strides", deform_conv},
    {"FusedConv", 1, {2, 4}, 1, fused_attributes, fused_conv, microsoft},
    {"NhwcFusedConv", 1, {2, 4}, 1, fused_attributes, fused_conv_of_channels_last, microsoft},
};

}  // namespace

std::span<const Rule> convolution_rules() { return rows_of_convolution; }

Convolution convolution_over(const NodeLowering &node, ValueId x, ValueId w) {
    const Window window = window_over(node, x, spatial(node.shape(w)));
    return {.strides = window.strides,
            .input_dilation = std::vector<int64_t>(window.strides.size(), 1),
            .dilations = window.dilations,
            .padding = window.padding,
            .groups = node.attributes.integer("group", 1)};
}

}  // namespace kiln::graph
