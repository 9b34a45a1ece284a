// Functions of one operand.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/lower/rules/rule.h"

namespace kiln::graph {
namespace {

using Formula = Expression (*)(const Expression &x, NumbersOf number, const Attributes &attributes);

template<Formula formula>
void unary(NodeLowering &node) {
    const ValueId x = node.input(0);
    node.result(node.elementwise(formula(operand(0), NumbersOf{node.type(x)}, node.attributes), {x}));
}

template<Function function>
Expression plain(const Expression &x, NumbersOf, const Attributes &) {
    return apply(function, x);
}

Expression relu(const Expression &x, NumbersOf number, const Attributes &) { return greatest(x, number(0)); }

Expression leaky_relu(const Expression &x, NumbersOf number, const Attributes &a) {
    return select(less(x, number(0)), x * number(a.real("alpha", 0.01f)), x);
}

Expression thresholded_relu(const Expression &x, NumbersOf number, const Attributes &a) {
    return select(less(number(a.real("alpha", 1)), x), x, number(0));
}

Expression elu(const Expression &x, NumbersOf number, const Attributes &a) {
    return select(less(x, number(0)), number(a.real("alpha", 1)) * (exponential(x) - number(1)), x);
}

Expression celu(const Expression &x, NumbersOf number, const Attributes &a) {
    const double alpha = a.real("alpha", 1);
    return select(less(x, number(0)), number(alpha) * (exponential(x / number(alpha)) - number(1)), x);
}

Expression scaled_elu(const Expression &x, NumbersOf number, double alpha, double gamma) {
    return number(gamma) * select(less(number(0), x), x, number(alpha) * (exponential(x) - number(1)));
}

Expression selu_of_opset_1(const Expression &x, NumbersOf number, const Attributes &a) {
    return scaled_elu(x, number, a.real("alpha", 1.6732f), a.real("gamma", 1.0507f));
}

Expression selu(const Expression &x, NumbersOf number, const Attributes &a) {
    return scaled_elu(x, number, a.real("alpha", 1.67326319217681884765625),
                      a.real("gamma", 1.05070102214813232421875));
}

Expression clamped_line(const Expression &x, NumbersOf number, double slope, double offset) {
    return greatest(least(x * number(slope) + number(offset), number(1)), number(0));
}

Expression hard_sigmoid(const Expression &x, NumbersOf number, const Attributes &a) {
    return clamped_line(x, number, a.real("alpha", 0.2f), a.real("beta", 0.5));
}

Expression hard_swish(const Expression &x, NumbersOf number, const Attributes &) {
    return x * clamped_line(x, number, 1.0 / 6, 0.5);
}

Expression softplus_rule(const Expression &x, NumbersOf number, const Attributes &) { return softplus(x, number); }

Expression mish(const Expression &x, NumbersOf number, const Attributes &) {
    return x * apply(Function::tangent_hyperbolic, softplus(x, number));
}

Expression softsign(const Expression &x, NumbersOf number, const Attributes &) { return x / (number(1) + absolute(x)); }

Expression shrink(const Expression &x, NumbersOf number, const Attributes &a) {
    const double bias = a.real("bias", 0), lambd = a.real("lambd", 0.5);
    if (!is_float(number.type)) return cast(shrink(cast(x, Element::f64), NumbersOf{Element::f64}, a), number.type);
    return select(less(x, number(-lambd)), x + number(bias),
                  select(less(number(lambd), x), x - number(bias), number(0)));
}

Expression swish_of(const Expression &x, NumbersOf number, double alpha) {
    return x * apply(Function::sigmoid, alpha == 1 ? x : number(alpha) * x);
}

Expression swish(const Expression &x, NumbersOf number, const Attributes &a) {
    return swish_of(x, number, a.real("alpha", 1));
}

Expression quick_gelu(const Expression &x, NumbersOf number, const Attributes &a) {
    return swish_of(x, number, a.real("alpha", 1.702f));
}

Expression exact_gelu(const Expression &x, NumbersOf number, const Attributes &) {
    const Expression erf = apply(Function::error_function, x * number(std::numbers::sqrt2 / 2));
    return number(0.5) * x * (number(1) + erf);
}

Expression tanh_gelu(const Expression &x, NumbersOf number) {
    const double factor = std::sqrt(2 / std::numbers::pi);
    const Expression inner = number(factor) * (x + number(0.044715) * x * x * x);
    return number(0.5) * x * (number(1) + apply(Function::tangent_hyperbolic, inner));
}

Expression gelu(const Expression &x, NumbersOf number, const Attributes &a) {
    const std::string approximate = a.text("approximate", "none");
    if (approximate == "none") return exact_gelu(x, number, a);
    if (approximate == "tanh") return tanh_gelu(x, number);
    reject("its attribute 'approximate' is '" + approximate + "', which must be 'none' or 'tanh'");
}

Expression tangent(const Expression &x, NumbersOf, const Attributes &) {
    return apply(Function::sine, x) / apply(Function::cosine, x);
}

// Cephes, atanf: of arguments from -tan(pi / 8) to tan(pi / 8), an error of 1e-7 of the result.
Expression arctangent(const Expression &x, NumbersOf number, const Attributes &) {
    const Expression a = absolute(x);
    const Expression is_large = less(number(2.414213562373095), a), is_middle = less(number(0.4142135623730950), a);
    const Expression z = select(is_large, -(number(1) / a), select(is_middle, (a - number(1)) / (a + number(1)), a));
    const Expression from =
        select(is_large, number(std::numbers::pi / 2), select(is_middle, number(std::numbers::pi / 4), number(0)));
    const Expression square = z * z;
    Expression sum = number(8.05374449538e-2);
    for (const double coefficient : {-1.38776856032e-1, 1.99777106478e-1, -3.33329491539e-1})
        sum = sum * square + number(coefficient);
    const Expression size = from + (sum * square * z + z);
    return select(less(x, number(0)), -size, size);
}

Expression arcsine(const Expression &x, NumbersOf number, const Attributes &attributes) {
    const Expression cosine = square_root((number(1) - x) * (number(1) + x));
    return number(2) * arctangent(x / (number(1) + cosine), number, attributes);
}

Expression arccosine(const Expression &x, NumbersOf number, const Attributes &attributes) {
    const Expression half = square_root((number(1) - x) / (number(1) + x));
    return number(2) * arctangent(half, number, attributes);
}

// Where x is small, the difference of the exponentials cancels.
Expression hyperbolic_sine(const Expression &x, NumbersOf number, const Attributes &) {
    const Expression t = apply(Function::tangent_hyperbolic, x * number(0.5));
    return select(less(absolute(x), number(1)), number(2) * t / (number(1) - t * t),
                  number(0.5) * (exponential(x) - exponential(-x)));
}

Expression hyperbolic_cosine(const Expression &x, NumbersOf number, const Attributes &) {
    return number(0.5) * (exponential(x) + exponential(-x));
}

// From here on log(2 a) is the inverse of both functions in the type's precision, and a square of a may overflow.
double large_number(Element type) { return type == Element::f16 ? 200 : 1e10; }

Expression inverse_hyperbolic_sine(const Expression &x, NumbersOf number, const Attributes &) {
    const Expression a = absolute(x), is_large = less(number(large_number(number.type)), a);
    const Expression tail = a * (a / (number(1) + square_root(number(1) + a * a)));
    const Expression size = apply(Function::logarithm_1p, select(is_large, a - number(1), a + tail));
    return apply(Function::sign, x) * (size + select(is_large, number(std::numbers::ln2), number(0)));
}

Expression inverse_hyperbolic_cosine(const Expression &x, NumbersOf number, const Attributes &) {
    const Expression is_large = less(number(large_number(number.type)), x);
    const Expression d = x - number(1);  // two roots: the product overflows, and is positive again below -1
    const Expression sum = d + square_root(d) * square_root(x + number(1));
    return apply(Function::logarithm_1p, select(is_large, d, sum)) +
           select(is_large, number(std::numbers::ln2), number(0));
}

Expression inverse_hyperbolic_tangent(const Expression &x, NumbersOf number, const Attributes &) {
    return number(0.5) * (apply(Function::logarithm_1p, x) - apply(Function::logarithm_1p, -x));
}

Expression is_infinite(const Expression &x, NumbersOf number, const Attributes &a) {
    const Expression infinite = apply(Function::is_infinite, x);
    const bool negative = a.flag("detect_negative", true), positive = a.flag("detect_positive", true);
    if (negative && positive) return infinite;
    if (!negative && !positive) return constant(0, Element::boolean);
    const Expression sided = negative ? less(x, number(0)) : less(number(0), x);
    return apply(Function::logical_and, infinite, sided);
}

// Of the sum of both inputs; the second may be left out.
template<Formula formula>
void behind_bias(NodeLowering &node) {
    if (!node.has_input(1)) return unary<formula>(node);
    const ValueId x = node.input(0), bias = node.input(1);
    const ValueId y =
        node.elementwise(formula(operand(0) + operand(1), NumbersOf{node.type(x)}, node.attributes), {x, bias});
    if (node.shape(y) != node.shape(x)) {
        reject("its bias of shape " + to_text(node.shape(bias)) + " does not fit its input of shape " +
               to_text(node.shape(x)));
    }
    node.result(y);
}

Expression fast_gelu(const Expression &x, NumbersOf number, const Attributes &) { return tanh_gelu(x, number); }

// Those that onnxruntime's optimizer puts into convolutions and products.
constexpr std::pair<std::string_view, Formula> fused_formulas[] = {
    {"Celu", celu},
    {"Elu", elu},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", hard_swish},
    {"LeakyRelu", leaky_relu},
    {"Relu", relu},
    {"Selu", selu},
    {"Sigmoid", plain<Function::sigmoid>},
    {"Softplus", softplus_rule},
    {"Softsign", softsign},
    {"Tanh", plain<Function::tangent_hyperbolic>},
    {"ThresholdedRelu", thresholded_relu},
};

constexpr Rule rows_of_activation[] = {
    {"Abs", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::absolute>>},
    {"Abs", 6, {1, 1}, 1, "", unary<plain<Function::absolute>>},
    {"Acos", 7, {1, 1}, 1, "", unary<arccosine>},
    {"Acosh", 9, {1, 1}, 1, "", unary<inverse_hyperbolic_cosine>},
    {"Asin", 7, {1, 1}, 1, "", unary<arcsine>},
    {"Asinh", 9, {1, 1}, 1, "", unary<inverse_hyperbolic_sine>},
    {"Atan", 7, {1, 1}, 1, "", unary<arctangent>},
    {"Atanh", 9, {1, 1}, 1, "", unary<inverse_hyperbolic_tangent>},
    {"BiasGelu", 1, {2, 2}, 1, "", behind_bias<exact_gelu>, microsoft},
    {"Ceil", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::ceil>>},
    {"Ceil", 6, {1, 1}, 1, "", unary<plain<Function::ceil>>},
    {"Celu", 12, {1, 1}, 1, "alpha", unary<celu>},
    {"Cos", 7, {1, 1}, 1, "", unary<plain<Function::cosine>>},
    {"Cosh", 9, {1, 1}, 1, "", unary<hyperbolic_cosine>},
    {"Elu", 1, {1, 1}, 1, "alpha consumed_inputs", unary<elu>},
    {"Elu", 6, {1, 1}, 1, "alpha", unary<elu>},
    {"Erf", 9, {1, 1}, 1, "", unary<plain<Function::error_function>>},
    {"Exp", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::exponential>>},
    {"Exp", 6, {1, 1}, 1, "", unary<plain<Function::exponential>>},
    {"FastGelu", 1, {1, 2}, 1, "", behind_bias<fast_gelu>, microsoft},
    {"Floor", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::floor>>},
    {"Floor", 6, {1, 1}, 1, "", unary<plain<Function::floor>>},
    {"Gelu", 1, {1, 1}, 1, "", unary<exact_gelu>, microsoft},
    {"Gelu", 20, {1, 1}, 1, "approximate", unary<gelu>},
    {"HardSigmoid", 1, {1, 1}, 1, "alpha beta consumed_inputs", unary<hard_sigmoid>},
    {"HardSigmoid", 6, {1, 1}, 1, "alpha beta", unary<hard_sigmoid>},
    {"HardSwish", 14, {1, 1}, 1, "", unary<hard_swish>},
    {"IsInf", 10, {1, 1}, 1, "detect_negative detect_positive", unary<is_infinite>},
    {"IsNaN", 9, {1, 1}, 1, "", unary<plain<Function::is_nan>>},
    {"LeakyRelu", 1, {1, 1}, 1, "alpha consumed_inputs", unary<leaky_relu>},
    {"LeakyRelu", 6, {1, 1}, 1, "alpha", unary<leaky_relu>},
    {"Log", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::logarithm>>},
    {"Log", 6, {1, 1}, 1, "", unary<plain<Function::logarithm>>},
    {"Mish", 18, {1, 1}, 1, "", unary<mish>},
    {"Neg", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::negate>>},
    {"Neg", 6, {1, 1}, 1, "", unary<plain<Function::negate>>},
    {"Not", 1, {1, 1}, 1, "", unary<plain<Function::logical_not>>},
    {"QuickGelu", 1, {1, 1}, 1, "alpha", unary<quick_gelu>, microsoft},
    {"Reciprocal", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::reciprocal>>},
    {"Reciprocal", 6, {1, 1}, 1, "", unary<plain<Function::reciprocal>>},
    {"Relu", 1, {1, 1}, 1, "consumed_inputs", unary<relu>},
    {"Relu", 6, {1, 1}, 1, "", unary<relu>},
    {"Round", 11, {1, 1}, 1, "", unary<plain<Function::round>>},
    {"Selu", 1, {1, 1}, 1, "alpha consumed_inputs gamma", unary<selu_of_opset_1>},
    {"Selu", 6, {1, 1}, 1, "alpha gamma", unary<selu>},
    {"Shrink", 9, {1, 1}, 1, "bias lambd", unary<shrink>},
    {"Sigmoid", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::sigmoid>>},
    {"Sigmoid", 6, {1, 1}, 1, "", unary<plain<Function::sigmoid>>},
    {"Sign", 9, {1, 1}, 1, "", unary<plain<Function::sign>>},
    {"Sin", 7, {1, 1}, 1, "", unary<plain<Function::sine>>},
    {"Sinh", 9, {1, 1}, 1, "", unary<hyperbolic_sine>},
    {"Softplus", 1, {1, 1}, 1, "", unary<softplus_rule>},
    {"Softsign", 1, {1, 1}, 1, "", unary<softsign>},
    {"Sqrt", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::square_root>>},
    {"Sqrt", 6, {1, 1}, 1, "", unary<plain<Function::square_root>>},
    {"Swish", 24, {1, 1}, 1, "alpha", unary<swish>},
    {"Tan", 7, {1, 1}, 1, "", unary<tangent>},
    {"Tanh", 1, {1, 1}, 1, "consumed_inputs", unary<plain<Function::tangent_hyperbolic>>},
    {"Tanh", 6, {1, 1}, 1, "", unary<plain<Function::tangent_hyperbolic>>},
    {"ThresholdedRelu", 1, {1, 1}, 1, "alpha", unary<thresholded_relu>},
};

}  // namespace

std::span<const Rule> activation_rules() { return rows_of_activation; }

Expression fused_activation(const std::string &op_type, std::vector<onnx::Attribute> numbers, const Expression &x,
                            Element type) {
    const auto found = std::ranges::find(fused_formulas, op_type, [](const auto &row) { return row.first; });
    if (found == std::end(fused_formulas)) refuse("kiln has no activation " + shown(op_type) + " in it");
    onnx::Node activation;
    activation.attributes = std::move(numbers);
    return found->second(x, NumbersOf{type}, Attributes(activation));
}

}  // namespace kiln::graph
