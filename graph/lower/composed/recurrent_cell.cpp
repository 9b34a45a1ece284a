#include "graph/lower/composed/recurrent_cell.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "graph/lower/node/dynamic_quanta.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/shown_names.h"
#include "graph/quantized_forms.h"

namespace kiln::graph {
namespace {

int gates_of(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::rnn:
            return 1;
        case RecurrentKind::gru:
            return 3;
        case RecurrentKind::lstm:
            return 4;
    }
    return 0;
}

std::vector<bool> directions(const NodeLowering &node) {
    const std::string direction = node.attributes.text("direction", "forward");
    if (direction == "forward") return {false};
    if (direction == "reverse") return {true};
    if (direction == "bidirectional") return {false, true};
    reject("its attribute 'direction' is " + shown(direction) +
           ", which must be 'forward', 'reverse' or 'bidirectional'");
}

void expect_shape(const NodeLowering &node, int input, const Shape &expected, std::string_view what) {
    const Shape &shape = node.shape(node.input(input));
    if (shape != expected)
        reject("its input " + shown(what) + " of shape " + to_text(shape) + " is not " + to_text(expected));
}

// Numbers of the sequence's type.
void expect_form(const NodeLowering &node, int input, const Shape &expected, std::string_view what) {
    if (!node.has_input(input)) return;
    const ValueId value = node.input(input);
    expect_shape(node, input, expected, what);
    if (node.type(value) != node.type(node.input(0))) {
        reject("its input " + shown(what) + " is " + std::string(name(node.type(value))) + ", and its sequence " +
               std::string(name(node.type(node.input(0)))));
    }
}

// steps x batch x 1, in one node for all steps.
std::optional<ValueId> steps_inside(NodeLowering &node, int64_t steps, int64_t batch) {
    if (!node.has_input(4)) return {};
    const ValueId lengths = node.input(4);
    const Shape shape = node.shape(lengths);
    if (shape != Shape{batch})
        reject("its input 'sequence_lens' of shape " + to_text(shape) + " is not " + to_text({batch}));
    if (node.type(lengths) != Element::i32)
        reject("its input 'sequence_lens' is " + std::string(name(node.type(lengths))) + ", which must be i32");
    if (node.is_known(4)) {
        const std::vector<int64_t> known = node.known_integers(4, "sequence_lens");
        for (const int64_t length : known) {
            if (length < 0 || length > steps)
                reject("its input 'sequence_lens' has a sequence of " + std::to_string(length) + " steps of " +
                       std::to_string(steps));
        }
        if (std::ranges::all_of(known, [&](int64_t length) { return length == steps; })) return {};
    }
    const ValueId places = node.constant(Numbers{{Element::i32, {steps, 1, 1}}, index_range(0, steps)});
    return node.elementwise(less(operand(0), operand(1)), {places, node.reshape(lengths, {batch, 1})});
}

// A function of recurrent operators, with the numbers that it takes where a node states none.
struct NamedActivation {
    std::string_view name;  // in lower case, as ONNX compares them
    int numbers;
    double alpha, beta;
    Expression (*of)(const Expression &x, NumbersOf number, double alpha, double beta);
};

constexpr NamedActivation named_activations[] = {
    {"affine", 2, 1, 0,
     [](const Expression &x, NumbersOf number, double a, double b) { return number(a) * x + number(b); }},
    {"elu", 1, 1, 0,
     [](const Expression &x, NumbersOf number, double a, double) {
         return select(less(x, number(0)), number(a) * (exponential(x) - number(1)), x);
     }},
    {"hardsigmoid", 2, 0.2F, 0.5,
     [](const Expression &x, NumbersOf number, double a, double b) {
         return greatest(least(number(a) * x + number(b), number(1)), number(0));
     }},
    {"leakyrelu", 1, 0.01F, 0,
     [](const Expression &x, NumbersOf number, double a, double) {
         return select(less(x, number(0)), number(a) * x, x);
     }},
    {"relu", 0, 0, 0, [](const Expression &x, NumbersOf number, double, double) { return greatest(x, number(0)); }},
    {"scaledtanh", 2, 1, 1,
     [](const Expression &x, NumbersOf number, double a, double b) {
         return number(a) * apply(Function::tangent_hyperbolic, number(b) * x);
     }},
    {"sigmoid", 0, 0, 0, [](const Expression &x, NumbersOf, double, double) { return apply(Function::sigmoid, x); }},
    {"softplus", 0, 0, 0, [](const Expression &x, NumbersOf number, double, double) { return softplus(x, number); }},
    {"softsign", 0, 0, 0,
     [](const Expression &x, NumbersOf number, double, double) { return x / (number(1) + absolute(x)); }},
    {"tanh", 0, 0, 0,
     [](const Expression &x, NumbersOf, double, double) { return apply(Function::tangent_hyperbolic, x); }},
    {"thresholdedrelu", 1, 1, 0,
     [](const Expression &x, NumbersOf number, double a, double) { return select(less(x, number(a)), number(0), x); }},
};

const NamedActivation &named(const std::string &name) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto found = std::ranges::find(named_activations, lower, &NamedActivation::name);
    if (found == std::end(named_activations)) reject("it has no activation " + shown(name));
    return *found;
}

std::vector<std::string> default_activations(RecurrentKind kind) {
    switch (kind) {
        case RecurrentKind::rnn:
            return {"Tanh"};
        case RecurrentKind::gru:
            return {"Sigmoid", "Tanh"};
        case RecurrentKind::lstm:
            return {"Sigmoid", "Tanh", "Tanh"};
    }
    return {};
}

// All but the weights. Inputs behind them have the same places in all operators.
RecurrentInputs inputs_of(NodeLowering &node, RecurrentKind kind, int axis_of_hidden) {
    RecurrentInputs inputs;
    inputs.reversed = directions(node);
    inputs.is_batch_first = node.attributes.flag("layout", false);
    const Shape x = node.shape(node.input(0)), r = node.shape(node.input(2));
    if (x.size() != 3) reject("its input of shape " + to_text(x) + " has not the axes of steps, batch and features");
    if (r.size() != 3) reject("its input 'R' of shape " + to_text(r) + " has not three axes");
    inputs.sequence = inputs.is_batch_first ? node.transpose(node.input(0), {1, 0, 2}) : node.input(0);
    inputs.steps = x[inputs.is_batch_first ? 1 : 0];
    inputs.batch = x[inputs.is_batch_first ? 0 : 1];
    inputs.hidden = r[static_cast<size_t>(axis_of_hidden)];
    if (inputs.steps == 0 || inputs.batch == 0 || inputs.hidden == 0 || x[2] == 0)
        refuse("its sequence or its state is empty");
    const int64_t hidden = node.attributes.integer("hidden_size", inputs.hidden);
    if (hidden != inputs.hidden)
        reject("its attribute 'hidden_size' is " + std::to_string(hidden) + ", and its input 'R' has " +
               std::to_string(inputs.hidden));
    const int64_t d = inputs.directions(), all = gates_of(kind) * inputs.hidden;
    const Shape state =
        inputs.is_batch_first ? Shape{inputs.batch, d, inputs.hidden} : Shape{d, inputs.batch, inputs.hidden};
    expect_form(node, 3, {d, 2 * all}, "B");
    expect_form(node, 5, state, "initial_h");
    if (kind == RecurrentKind::lstm) {
        expect_form(node, 6, state, "initial_c");
        expect_form(node, 7, {d, 3 * inputs.hidden}, "P");
    }
    inputs.is_inside = steps_inside(node, inputs.steps, inputs.batch);
    return inputs;
}

// Directions x features (or hidden) x 4 * hidden, with a scale and a zero point for each direction, or for each of its 4 * hidden.
ValueId dequantized_weights(NodeLowering &node, int input, int scale, const Shape &shape, std::string_view what) {
    expect_shape(node, input, shape, what);
    const Element type = node.type(node.input(input));
    if (type != Element::i8 && type != Element::u8)
        reject("its input " + shown(what) + " is " + std::string(name(type)) + "; needs i8 or u8");
    if (node.type(node.input(scale + 1)) != type) reject("the zero point of " + shown(what) + " has another type");
    if (node.type(node.input(scale)) != Element::f32) reject("the scale of " + shown(what) + " is not f32");
    const auto parameter = [&](int at, std::string_view of) {
        const Shape own = node.shape(node.input(at));
        if (own == Shape{shape[0]}) return node.reshape(node.input(at), {shape[0], 1, 1});
        if (own == Shape{shape[0], shape[2]}) return node.reshape(node.input(at), {shape[0], 1, shape[2]});
        reject("its " + std::string(of) + " of " + shown(what) + ", of shape " + to_text(own) + ", is neither " +
               to_text({shape[0]}) + " nor " + to_text({shape[0], shape[2]}));
    };
    const ValueId numbers =
        node.elementwise(dequantization(ZeroPoint::operand),
                         {node.input(input), parameter(scale, "scale"), parameter(scale + 1, "zero point")});
    return node.transpose(numbers, {0, 2, 1});
}

}  // namespace

RecurrentInputs recurrent_inputs(NodeLowering &node, RecurrentKind kind) {
    RecurrentInputs inputs = inputs_of(node, kind, 2);
    const int64_t d = inputs.directions(), all = gates_of(kind) * inputs.hidden;
    expect_form(node, 1, {d, all, node.shape(inputs.sequence)[2]}, "W");
    expect_form(node, 2, {d, all, inputs.hidden}, "R");
    inputs.weights = node.input(1), inputs.recurrent_weights = node.input(2);
    return inputs;
}

RecurrentInputs quantized_recurrent_inputs(NodeLowering &node) {
    RecurrentInputs inputs = inputs_of(node, RecurrentKind::lstm, 1);
    const int64_t d = inputs.directions(), all = gates_of(RecurrentKind::lstm) * inputs.hidden;
    inputs.weights = dequantized_weights(node, 1, 8, {d, node.shape(inputs.sequence)[2], all}, "W");
    inputs.recurrent_weights = dequantized_weights(node, 2, 10, {d, inputs.hidden, all}, "R");
    inputs.sequence = rounded_dynamically(node, inputs.sequence);
    inputs.quantizes_states = true;
    return inputs;
}

RecurrentCell::RecurrentCell(NodeLowering &node, RecurrentKind kind, const RecurrentInputs &inputs, int direction)
    : node_(node),
      inputs_(inputs),
      direction_(direction),
      gates_(gates_of(kind)),
      is_linear_(kind == RecurrentKind::gru && node.attributes.flag("linear_before_reset", false)) {
    read_activations(kind);
    const bool is_gru = kind == RecurrentKind::gru;
    const int64_t hidden = inputs.hidden, all = gates_ * hidden;
    const int64_t recurrent = is_gru && !is_linear_ ? 2 * hidden : all;  // gates that see the state as it is
    weights_ = node.transpose(part(inputs.recurrent_weights, 0, recurrent), {1, 0});
    if (recurrent < all) reset_weights_ = node.transpose(part(inputs.recurrent_weights, recurrent, hidden), {1, 0});

    const int64_t features = node.shape(inputs.sequence)[2];
    const ValueId rows = node.reshape(inputs.sequence, {inputs.steps * inputs.batch, features});
    projected_ = node.add(MatrixProduct{}, {rows, node.transpose(part(inputs.weights, 0, all), {1, 0})});
    if (node.has_input(3)) projected_ = node.elementwise(operand(0) + operand(1), {projected_, bias()});
    projected_ = node.reshape(projected_, {inputs.steps, inputs.batch, all});
}

ValueId RecurrentCell::zeros(int64_t count) const {
    const ValueId zero = node_.constant(Numbers{{type(), {}}, std::vector<double>{0}});
    return node_.elementwise(operand(0), {zero}, {count});
}

// Both biases of each gate, but for that of a gate which is reset between them.
ValueId RecurrentCell::bias() {
    const int64_t hidden = inputs_.hidden, all = gates_ * hidden;
    const ValueId of_input = part(node_.input(3), 0, all);
    ValueId of_state = part(node_.input(3), all, all);
    if (is_linear_) {
        reset_bias_ = take(node_, of_state, {{0, index_range(2 * hidden, hidden)}});
        state_bias_ = node_.add(Concat{0}, {zeros(2 * hidden), *reset_bias_});
        of_state = node_.add(Concat{0}, {take(node_, of_state, {{0, index_range(0, 2 * hidden)}}), zeros(hidden)});
    }
    return node_.elementwise(operand(0) + operand(1), {of_input, of_state});
}

ValueId RecurrentCell::part(ValueId all, int64_t first, int64_t count) const {
    Shape shape = node_.shape(all);
    const ValueId own = take(node_, all, {{0, {direction_}}, {1, index_range(first, count)}});
    shape.erase(shape.begin());
    shape[0] = count;
    return node_.reshape(own, shape);
}

void RecurrentCell::read_activations(RecurrentKind kind) {
    std::vector<std::string> names = node_.attributes.texts("activations");
    const std::vector<std::string> usual = default_activations(kind);
    const size_t count = usual.size() * inputs_.reversed.size();
    const bool are_usual = names.empty();
    while (are_usual && names.size() < count) names.insert(names.end(), usual.begin(), usual.end());
    // ONNX names two for RNN, whose steps have one; what follows the first is not used.
    if (usual.size() == 1 && names.size() > count) names.resize(count);
    if (names.size() != count)
        reject("it names " + std::to_string(names.size()) + " activations; needs " + std::to_string(count));
    // Numbers are taken one after the other by the functions that have any.
    const std::vector<double> alphas = node_.attributes.reals("activation_alpha"),
                              betas = node_.attributes.reals("activation_beta");
    size_t alpha = 0, beta = 0;
    const NumbersOf number{type()};
    for (size_t i = 0; i < count; i++) {
        const NamedActivation &function = named(names[i]);
        double a = function.alpha, b = function.beta;
        if (function.numbers > 0 && alpha < alphas.size()) a = alphas[alpha++];
        if (function.numbers > 1 && beta < betas.size()) b = betas[beta++];
        if (i / usual.size() != static_cast<size_t>(direction_)) continue;
        activations_.push_back([=, of = function.of](const Expression &x) { return of(x, number, a, b); });
    }
}

Expression RecurrentCell::activation(int index, const Expression &x, bool is_clipped) const {
    const double clip = node_.attributes.real("clip", 0);
    const Expression bounded = greatest(least(x, constant(clip, type())), constant(-clip, type()));
    return activations_[static_cast<size_t>(index)](is_clipped && clip > 0 ? bounded : x);
}

ValueId RecurrentCell::input_of_step(int64_t t) const {
    return node_.reshape(take(node_, projected_, {{0, {t}}}), {inputs_.batch, gates_ * inputs_.hidden});
}

ValueId RecurrentCell::where_inside(int64_t t, ValueId then, std::optional<ValueId> otherwise) const {
    const ValueId is_inside = node_.reshape(take(node_, *inputs_.is_inside, {{0, {t}}}), {inputs_.batch, 1});
    if (!otherwise) return node_.elementwise(select(operand(0), operand(1), constant(0, type())), {is_inside, then});
    return node_.elementwise(select(operand(0), operand(1), operand(2)), {is_inside, then, *otherwise});
}

ValueId RecurrentCell::seen(ValueId h) const { return inputs_.quantizes_states ? rounded_dynamically(node_, h) : h; }

ValueId RecurrentCell::recur(ValueId h) const {
    const ValueId sums = node_.add(MatrixProduct{}, {seen(h), weights_});
    return state_bias_ ? node_.elementwise(operand(0) + operand(1), {sums, *state_bias_}) : sums;
}

ValueId RecurrentCell::recur_reset(ValueId h) const { return node_.add(MatrixProduct{}, {h, *reset_weights_}); }

ValueId RecurrentCell::gate(ValueId sums, int index) const {
    return take(node_, sums, {{1, index_range(index * inputs_.hidden, inputs_.hidden)}});
}

std::optional<ValueId> RecurrentCell::peephole(int gate) const {
    if (!node_.has_input(7) || node_.is_known_zero(node_.input(7))) return {};
    return part(node_.input(7), gate * inputs_.hidden, inputs_.hidden);
}

}  // namespace kiln::graph
