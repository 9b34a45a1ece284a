// Functions of two and more operands, element by element, and casts.
#include <algorithm>
#include <cctype>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/rule.h"
#include "graph/onnx/data_type.h"

namespace kiln::graph {
namespace {

// Until opset 6 the second operand fits the first one from `axis` on, and only where `broadcast` says so.
ValueId aligned_second(NodeLowering &node) {
    const ValueId a = node.input(0), b = node.input(1);
    if (node.opset() >= 7) return b;
    Shape shape = node.shape(b);
    if (!node.attributes.flag("broadcast", false)) {
        if (shape == node.shape(a)) return b;
        reject("its operands have shapes " + to_text(node.shape(a)) + " and " + to_text(shape) +
               ", and before opset 7 that needs the attribute 'broadcast'");
    }
    if (!node.attributes.has("axis")) return b;
    const int axis = axis_of(node.attributes.integer("axis"), node.rank(a));
    if (axis + node.rank(b) > node.rank(a))
        reject("its second operand does not fit behind axis " + std::to_string(axis));
    shape.resize(node.rank(a) - axis, 1);
    return node.reshape(b, shape);
}

template<Function function>
void binary(NodeLowering &node) {
    node.result(node.elementwise(apply(function, operand(0), operand(1)), {node.input(0), aligned_second(node)}));
}

// a > b is b < a.
template<Function function>
void swapped(NodeLowering &node) {
    node.result(node.elementwise(apply(function, operand(1), operand(0)), {node.input(0), aligned_second(node)}));
}

// The result has the type of the base, whatever that of the exponent.
void pow(NodeLowering &node) {
    const ValueId x = node.input(0), y = aligned_second(node);
    const Element base = node.type(x), exponent = node.type(y);
    Expression result = power(operand(0), operand(1));
    if (base != exponent && is_float(base)) result = power(operand(0), cast(operand(1), base));
    if (base != exponent && !is_float(base)) {
        result = cast(power(cast(operand(0), Element::f64), cast(operand(1), Element::f64)), base);
    }
    node.result(node.elementwise(result, {x, y}));
}

// With fmod the result has the sign of the dividend, else that of the divisor.
void mod(NodeLowering &node) {
    const ValueId a = node.input(0), b = node.input(1);
    const Expression x = operand(0), y = operand(1);
    Expression result = apply(Function::remainder, x, y);
    if (node.attributes.flag("fmod", false)) {
        const NumbersOf number{node.type(a)};
        const Expression magnitude = apply(Function::remainder, absolute(x), absolute(y));
        result = select(less(x, number(0)), -magnitude, magnitude);
    }
    node.result(node.elementwise(result, {a, b}));
}

// Any number of operands, a bounded number of them at once: the steps of an expression are bounded.
template<Function function>
ValueId joined(NodeLowering &node) {
    constexpr size_t most_at_once = 64;
    const std::vector<ValueId> inputs = node.all_inputs();
    ValueId result = inputs[0];
    for (size_t first = 1; first < inputs.size(); first += most_at_once) {
        std::vector<ValueId> operands{result};
        Expression expression = operand(0);
        for (size_t i = first; i < std::min(inputs.size(), first + most_at_once); i++) {
            expression = apply(function, expression, operand(static_cast<int>(operands.size())));
            operands.push_back(inputs[i]);
        }
        result = node.elementwise(expression, operands);
    }
    return result;
}

template<Function function>
void variadic(NodeLowering &node) {
    node.result(joined<function>(node));
}

void mean(NodeLowering &node) {
    const ValueId sum = joined<Function::add>(node);
    const NumbersOf number{node.type(sum)};
    node.result(node.elementwise(operand(0) / number(node.input_count()), {sum}));
}

// Until opset 6 a slope of one axis stands for the channels.
void prelu(NodeLowering &node) {
    const ValueId x = node.input(0);
    ValueId slope = node.input(1);
    if (node.opset() < 7 && node.rank(slope) == 1 && node.rank(x) > 2 && node.elements(slope) > 1) {
        Shape channels(node.rank(x) - 1, 1);
        channels[0] = node.elements(slope);
        slope = node.reshape(slope, channels);
    }
    const NumbersOf number{node.type(x)};
    const ValueId y =
        node.elementwise(select(less(operand(0), number(0)), operand(0) * operand(1), operand(0)), {x, slope});
    if (node.shape(y) != node.shape(x))
        reject("its slope of shape " + to_text(node.shape(slope)) + " does not fit its input");
    node.result(y);
}

void where(NodeLowering &node) {
    node.result(node.elementwise(select(operand(0), operand(1), operand(2)), node.all_inputs()));
}

void swiglu(NodeLowering &node) {
    const ValueId gate = node.input(0), value = node.input(1);
    const NumbersOf number{node.type(gate)};
    const Expression inner = number(node.attributes.real("alpha", 1)) * operand(0);
    node.result(node.elementwise(operand(0) * apply(Function::sigmoid, inner) * operand(1), {gate, value}));
}

ValueId scalar_of(NodeLowering &node, ValueId bound) {
    if (node.elements(bound) != 1) reject("a bound has shape " + to_text(node.shape(bound)) + " and must be a scalar");
    return node.reshape(bound, {});
}

// Where the bounds are out of order, the upper one wins.
void clip(NodeLowering &node) {
    std::vector<ValueId> operands{node.input(0)};
    const NumbersOf number{node.type(operands[0])};
    Expression result = operand(0);
    const auto bound = [&](int input, const char *name, Function function) {
        if (node.opset() < 11 && node.attributes.has(name)) {
            result = apply(function, result, number(node.attributes.real(name)));
        } else if (node.opset() >= 11 && node.has_input(input)) {
            result = apply(function, result, operand(static_cast<int>(operands.size())));
            operands.push_back(scalar_of(node, node.input(input)));
        }
    };
    bound(1, "min", Function::maximum);
    bound(2, "max", Function::minimum);
    node.result(node.elementwise(result, operands));
}

void cast_to(NodeLowering &node, Element type) { node.result(node.converted(node.input(0), type)); }

void cast_rule(NodeLowering &node) {
    const int64_t to = node.attributes.integer("to");
    const std::optional<Element> type = onnx::element_of(to);
    if (!type) refuse("it casts to " + onnx::data_type_name(to) + ", which kiln does not compute in");
    cast_to(node, *type);
}

// There the type is a name, such as FLOAT.
void cast_of_opset_1(NodeLowering &node) {
    constexpr int64_t codes_of_opset_1 = 16;
    const std::string to = node.attributes.text("to");
    std::string lower_case = to;
    std::ranges::transform(lower_case, lower_case.begin(), [](unsigned char c) { return std::tolower(c); });
    for (int64_t code = 1; code <= codes_of_opset_1; code++) {
        const std::optional<Element> type = onnx::element_of(code);
        if (type && onnx::data_type_name(code) == lower_case) return cast_to(node, *type);
    }
    refuse("it casts to " + shown(to) + ", which kiln does not compute in");
}

void cast_like(NodeLowering &node) { cast_to(node, node.type(node.input(1))); }

constexpr Rule rows_of_arithmetic[] = {
    {"Add", 1, {2, 2}, 1, "axis broadcast consumed_inputs", binary<Function::add>},
    {"Add", 6, {2, 2}, 1, "axis broadcast", binary<Function::add>},
    {"Add", 7, {2, 2}, 1, "", binary<Function::add>},
    {"And", 1, {2, 2}, 1, "axis broadcast", binary<Function::logical_and>},
    {"And", 7, {2, 2}, 1, "", binary<Function::logical_and>},
    {"Cast", 1, {1, 1}, 1, "to", cast_of_opset_1},
    {"Cast", 6, {1, 1}, 1, "to", cast_rule},
    {"Cast", 19, {1, 1}, 1, "saturate to", cast_rule},
    {"Cast", 24, {1, 1}, 1, "round_mode saturate to", cast_rule},
    {"CastLike", 15, {2, 2}, 1, "", cast_like},
    {"CastLike", 19, {2, 2}, 1, "saturate", cast_like},
    {"CastLike", 24, {2, 2}, 1, "round_mode saturate", cast_like},
    {"Clip", 1, {1, 1}, 1, "consumed_inputs max min", clip},
    {"Clip", 6, {1, 1}, 1, "max min", clip},
    {"Clip", 11, {1, 3}, 1, "", clip},
    {"Div", 1, {2, 2}, 1, "axis broadcast consumed_inputs", binary<Function::divide>},
    {"Div", 6, {2, 2}, 1, "axis broadcast", binary<Function::divide>},
    {"Div", 7, {2, 2}, 1, "", binary<Function::divide>},
    {"Equal", 1, {2, 2}, 1, "axis broadcast", binary<Function::equal>},
    {"Equal", 7, {2, 2}, 1, "", binary<Function::equal>},
    {"Greater", 1, {2, 2}, 1, "axis broadcast", swapped<Function::less>},
    {"Greater", 7, {2, 2}, 1, "", swapped<Function::less>},
    {"GreaterOrEqual", 12, {2, 2}, 1, "", swapped<Function::less_or_equal>},
    {"Less", 1, {2, 2}, 1, "axis broadcast", binary<Function::less>},
    {"Less", 7, {2, 2}, 1, "", binary<Function::less>},
    {"LessOrEqual", 12, {2, 2}, 1, "", binary<Function::less_or_equal>},
    {"Max", 1, {1, Rule::any}, 1, "consumed_inputs", variadic<Function::maximum>},
    {"Max", 6, {1, Rule::any}, 1, "", variadic<Function::maximum>},
    {"Mean", 1, {1, Rule::any}, 1, "consumed_inputs", mean},
    {"Mean", 6, {1, Rule::any}, 1, "", mean},
    {"Min", 1, {1, Rule::any}, 1, "consumed_inputs", variadic<Function::minimum>},
    {"Min", 6, {1, Rule::any}, 1, "", variadic<Function::minimum>},
    {"Mod", 10, {2, 2}, 1, "fmod", mod},
    {"Mul", 1, {2, 2}, 1, "axis broadcast consumed_inputs", binary<Function::multiply>},
    {"Mul", 6, {2, 2}, 1, "axis broadcast", binary<Function::multiply>},
    {"Mul", 7, {2, 2}, 1, "", binary<Function::multiply>},
    {"Or", 1, {2, 2}, 1, "axis broadcast", binary<Function::logical_or>},
    {"Or", 7, {2, 2}, 1, "", binary<Function::logical_or>},
    {"PRelu", 1, {2, 2}, 1, "consumed_inputs", prelu},
    {"PRelu", 6, {2, 2}, 1, "", prelu},
    {"Pow", 1, {2, 2}, 1, "axis broadcast", pow},
    {"Pow", 7, {2, 2}, 1, "", pow},
    {"Sub", 1, {2, 2}, 1, "axis broadcast consumed_inputs", binary<Function::subtract>},
    {"Sub", 6, {2, 2}, 1, "axis broadcast", binary<Function::subtract>},
    {"Sub", 7, {2, 2}, 1, "", binary<Function::subtract>},
    {"Sum", 1, {1, Rule::any}, 1, "consumed_inputs", variadic<Function::add>},
    {"Sum", 6, {1, Rule::any}, 1, "", variadic<Function::add>},
    {"SwiGLU", 28, {2, 2}, 1, "alpha", swiglu},
    {"Where", 9, {3, 3}, 1, "", where},
    {"Xor", 1, {2, 2}, 1, "axis broadcast", binary<Function::logical_xor>},
    {"Xor", 7, {2, 2}, 1, "", binary<Function::logical_xor>},
};

}  // namespace

std::span<const Rule> arithmetic_rules() { return rows_of_arithmetic; }

}  // namespace kiln::graph
