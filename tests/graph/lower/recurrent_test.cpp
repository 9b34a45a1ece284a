// RNN, GRU and LSTM against their formulas in plain loops.
#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "tests/graph/lower/rule_cases.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

using Row = std::vector<double>;
using Activation = std::function<double(double)>;

const Activation sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
const Activation hyperbolic = [](double x) { return std::tanh(x); };

struct Layer {
    std::string op_type;
    int gates;
    int64_t steps, batch, features, hidden;
    std::string direction = "forward";
    std::vector<onnx::Attribute> attributes = {};
    std::array<Activation, 3> activations = {};  // of every direction
    bool has_bias = true, has_initial = true, has_peepholes = false;
    // What attributes say, for the reference.
    bool is_linear = false, is_coupled = false, is_batch_first = false;
    double clip = 0;
    std::vector<int64_t> lengths = {};  // of each sequence; none: all steps
    bool is_quantized = false;          // products see the sequence and states of one sequence as quanta

    int64_t directions() const { return direction == "bidirectional" ? 2 : 1; }
};

// Numbers as quanta of 8 bits have them whose range is that of the numbers and 0.
Row rounded_by_range(Row row) {
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    const double lo = std::min(*least, 0.0), hi = std::max(*most, 0.0);
    const double scale = lo == hi ? 1 : static_cast<float>(static_cast<float>(hi - lo) / 255.0);
    const double zero_point = std::nearbyint(-lo / scale);
    for (double &x : row) x = (std::clamp(std::nearbyint(x / scale) + zero_point, 0.0, 255.0) - zero_point) * scale;
    return row;
}

class Reference {
public:
    Reference(const Layer &layer, std::vector<std::optional<Numbers>> inputs) : l_(layer), inputs_(std::move(inputs)) {
        if (!l_.is_quantized) return;
        Row &sequence = std::get<0>(inputs_[0]->elements);
        sequence = rounded_by_range(sequence);
    }

    // Y, Y_h, Y_c
    std::vector<Numbers> run() {
        const int64_t d = l_.directions();
        std::vector<Numbers> results{counted({l_.steps, d, l_.batch, l_.hidden}), counted({d, l_.batch, l_.hidden}),
                                     counted({d, l_.batch, l_.hidden})};
        for (direction_ = 0; direction_ < d; direction_++) {
            for (int64_t n = 0; n < l_.batch; n++) sequence(n, &results);
        }
        if (l_.op_type != "LSTM") results.pop_back();
        return results;
    }

private:
    double element(int input, std::initializer_list<int64_t> index) const {
        if (!inputs_[static_cast<size_t>(input)]) return 0;
        const Numbers &numbers = *inputs_[static_cast<size_t>(input)];
        int64_t at = 0, axis = 0;
        for (const int64_t i : index) at = at * numbers.form.shape[static_cast<size_t>(axis++)] + i;
        return std::get<0>(numbers.elements)[static_cast<size_t>(at)];
    }
    double x(int64_t t, int64_t n, int64_t k) const {
        return l_.is_batch_first ? element(0, {n, t, k}) : element(0, {t, n, k});
    }
    double initial(int input, int64_t n, int64_t j) const {
        return l_.is_batch_first ? element(input, {n, direction_, j}) : element(input, {direction_, n, j});
    }
    double of_input(int64_t t, int64_t n, int64_t row) const {
        double sum = element(3, {direction_, row});
        for (int64_t k = 0; k < l_.features; k++) sum += x(t, n, k) * element(1, {direction_, row, k});
        return sum;
    }
    double of_state(const Row &h, int64_t row) const {
        double sum = element(3, {direction_, l_.gates * l_.hidden + row});
        for (int64_t k = 0; k < l_.hidden; k++) sum += h[static_cast<size_t>(k)] * element(2, {direction_, row, k});
        return sum;
    }
    double f(int index, double sum) const {
        if (l_.clip > 0) sum = std::clamp(sum, -l_.clip, l_.clip);
        return l_.activations[static_cast<size_t>(index)](sum);
    }

    void sequence(int64_t n, std::vector<Numbers> *results) {
        Row h(static_cast<size_t>(l_.hidden)), c(static_cast<size_t>(l_.hidden));
        for (int64_t j = 0; j < l_.hidden; j++) {
            h[static_cast<size_t>(j)] = initial(5, n, j);
            if (l_.op_type == "LSTM") c[static_cast<size_t>(j)] = initial(6, n, j);
        }
        const bool is_reversed = l_.direction == "reverse" || direction_ == 1;
        for (int64_t i = 0; i < l_.steps; i++) {
            const int64_t t = is_reversed ? l_.steps - 1 - i : i;
            const bool is_inside = l_.lengths.empty() || t < l_.lengths[static_cast<size_t>(n)];
            if (is_inside) step(t, n, &h, &c);
            for (int64_t j = 0; j < l_.hidden; j++)
                put(&results->at(0), {t, direction_, n, j}, is_inside ? h[static_cast<size_t>(j)] : 0);
        }
        for (int64_t j = 0; j < l_.hidden; j++) {
            put(&results->at(1), {direction_, n, j}, h[static_cast<size_t>(j)]);
            put(&results->at(2), {direction_, n, j}, c[static_cast<size_t>(j)]);
        }
    }

    static void put(Numbers *numbers, std::initializer_list<int64_t> index, double value) {
        int64_t at = 0, axis = 0;
        for (const int64_t i : index) at = at * numbers->form.shape[static_cast<size_t>(axis++)] + i;
        std::get<0>(numbers->elements)[static_cast<size_t>(at)] = value;
    }

    void step(int64_t t, int64_t n, Row *h, Row *c) const {
        const Row before = l_.is_quantized ? rounded_by_range(*h) : *h;
        Row reset(before.size());
        const auto both = [&](int64_t gate, int64_t j) {
            const int64_t row = gate * l_.hidden + j;
            return of_input(t, n, row) + of_state(before, row);
        };
        for (int64_t j = 0; l_.op_type == "GRU" && j < l_.hidden; j++)
            reset[static_cast<size_t>(j)] = f(0, both(1, j)) * before[static_cast<size_t>(j)];
        for (int64_t j = 0; j < l_.hidden; j++) {
            double &state = (*h)[static_cast<size_t>(j)], &cell = (*c)[static_cast<size_t>(j)];
            if (l_.op_type == "RNN") state = f(0, both(0, j));
            if (l_.op_type == "GRU") {
                const double z = f(0, both(0, j)), r = f(0, both(1, j));
                const int64_t row = 2 * l_.hidden + j;
                const double candidate = l_.is_linear ? of_input(t, n, row) + r * of_state(before, row)
                                                      : of_input(t, n, row) + of_state(reset, row);
                state = (1 - z) * f(1, candidate) + z * before[static_cast<size_t>(j)];
            }
            if (l_.op_type == "LSTM") {
                const auto peephole = [&](int64_t gate) {
                    return l_.has_peepholes ? element(7, {direction_, gate * l_.hidden + j}) : 0;
                };
                const double i = f(0, both(0, j) + peephole(0) * cell), g = f(1, both(3, j));
                const double forget = l_.is_coupled ? 1 - i : f(0, both(2, j) + peephole(2) * cell);
                cell = forget * cell + i * g;
                state = f(0, both(1, j) + peephole(1) * cell) * l_.activations[2](cell);
            }
        }
    }

    const Layer &l_;
    std::vector<std::optional<Numbers>> inputs_;
    int64_t direction_ = 0;
};

class Draw {
public:
    Numbers operator()(Shape shape) {
        Numbers numbers = counted(std::move(shape));
        for (double &element : std::get<0>(numbers.elements))
            element = static_cast<float>(std::uniform_real_distribution<double>(-1, 1)(random_));
        return numbers;
    }

private:
    std::mt19937_64 random_{test_seed()};
};

RuleCase case_of(Layer layer) {
    const int64_t d = layer.directions(), all = layer.gates * layer.hidden;
    Draw draw;
    const Shape state =
        layer.is_batch_first ? Shape{layer.batch, d, layer.hidden} : Shape{d, layer.batch, layer.hidden};
    std::vector<std::optional<Numbers>> inputs{
        draw(layer.is_batch_first ? Shape{layer.batch, layer.steps, layer.features}
                                  : Shape{layer.steps, layer.batch, layer.features}),
        draw({d, all, layer.features}), draw({d, all, layer.hidden})};
    inputs.push_back(layer.has_bias ? std::optional(draw({d, 2 * all})) : std::nullopt);
    inputs.emplace_back();  // sequence_lens
    if (!layer.lengths.empty()) inputs.back() = whole({layer.batch}, layer.lengths, Element::i32);
    inputs.push_back(layer.has_initial ? std::optional(draw(state)) : std::nullopt);
    if (layer.op_type == "LSTM") {
        inputs.push_back(layer.has_initial ? std::optional(draw(state)) : std::nullopt);
        if (layer.has_peepholes) inputs.push_back(draw({d, 3 * layer.hidden}));
    }
    std::vector<Numbers> outputs = Reference(layer, inputs).run();
    RuleCase row{layer.op_type, 14, std::move(layer.attributes), std::move(inputs), std::move(outputs)};
    row.attributes.push_back(text("direction", layer.direction));
    return row;
}

Numbers transposed(const Numbers &x, const std::vector<int> &permutation) {
    return *evaluate(Transpose{permutation}, {&x});
}

void expect_layer(const Layer &layer) {
    SCOPED_TRACE(layer.direction + " of " + std::to_string(layer.steps) + " steps, batch " +
                 std::to_string(layer.batch));
    RuleCase row = case_of(layer);
    if (layer.is_batch_first) {
        row.outputs[0] = transposed(row.outputs[0], {2, 0, 1, 3});
        for (size_t i = 1; i < row.outputs.size(); i++) row.outputs[i] = transposed(row.outputs[i], {1, 0, 2});
    }
    expect_outputs(row);
}

const Layer rnn{"RNN", 1, 3, 2, 5, 4, "forward", {}, {hyperbolic}};
const Layer gru{"GRU", 3, 3, 2, 5, 4, "forward", {}, {sigmoid, hyperbolic}};
const Layer lstm{"LSTM", 4, 3, 2, 5, 4, "forward", {}, {sigmoid, hyperbolic, hyperbolic}};

template<typename Change>
Layer with(Layer layer, const Change &change) {
    change(layer);
    return layer;
}

TEST(Recurrent, DirectionsStatesAndBiases) {
    for (const Layer &plain : {rnn, gru, lstm}) {
        SCOPED_TRACE(plain.op_type);
        for (const char *direction : {"forward", "reverse", "bidirectional"}) {
            for (const bool has_initial : {false, true}) {
                for (const bool has_bias : {false, true}) {
                    expect_layer(with(plain, [&](Layer &l) {
                        l.direction = direction, l.has_initial = has_initial, l.has_bias = has_bias;
                    }));
                }
            }
        }
        expect_layer(with(plain, [](Layer &l) { l.steps = l.batch = 1; }));
        expect_layer(with(plain, [](Layer &l) { l.batch = l.features = l.hidden = 1, l.direction = "bidirectional"; }));
        expect_layer(with(plain, [](Layer &l) {
            l.is_batch_first = true, l.direction = "bidirectional", l.attributes = {integer("layout", 1)};
        }));
    }
}

TEST(Recurrent, Variants) {
    const auto linear = [](Layer &l) { l.is_linear = true, l.attributes = {integer("linear_before_reset", 1)}; };
    expect_layer(with(gru, linear));
    expect_layer(with(with(gru, linear), [](Layer &l) { l.has_initial = false, l.direction = "bidirectional"; }));
    expect_layer(with(with(gru, linear), [](Layer &l) { l.has_initial = l.has_bias = false; }));
    expect_layer(with(lstm, [](Layer &l) { l.has_peepholes = true, l.direction = "bidirectional"; }));
    expect_layer(with(lstm, [](Layer &l) { l.has_peepholes = true, l.has_initial = false; }));
    expect_layer(with(lstm, [](Layer &l) { l.is_coupled = true, l.attributes = {integer("input_forget", 1)}; }));
    for (const Layer &plain : {rnn, gru, lstm}) {
        expect_layer(with(plain, [](Layer &l) { l.clip = 0.25, l.attributes = {real("clip", 0.25F)}; }));
        expect_layer(with(plain, [](Layer &l) { l.attributes = {integer("hidden_size", 4)}; }));
    }
}

// Weights of i8 are transposed there. A scale and a zero point belong to a direction, or to each of its columns.
RuleCase quantized_case_of(const Layer &layer, bool of_columns) {
    RuleCase row = case_of(layer);
    const int64_t d = layer.directions(), columns = 4 * layer.hidden;
    std::mt19937_64 random(test_seed());
    const Shape parameters = of_columns ? Shape{d, columns} : Shape{d};
    row.inputs.resize(8);
    for (const size_t weights : {1, 2}) {
        Numbers scale = counted(parameters);
        for (double &s : std::get<0>(scale.elements)) s = 0.0078125 * static_cast<double>(1 + random() % 3);
        std::vector<int64_t> stored, points;
        for (size_t i = 0; i < std::get<0>(scale.elements).size(); i++) points.push_back(int64_t(random() % 9) - 4);
        const int64_t rows = row.inputs[weights]->form.shape[2];
        Numbers &numbers = *row.inputs[weights];
        for (int64_t direction = 0; direction < d; direction++) {
            for (int64_t r = 0; r < rows; r++) {
                for (int64_t column = 0; column < columns; column++) {
                    stored.push_back(int64_t(random() % 201) - 100);
                    const auto at = static_cast<size_t>(of_columns ? direction * columns + column : direction);
                    std::get<0>(numbers.elements)[static_cast<size_t>((direction * columns + column) * rows + r)] =
                        static_cast<double>(stored.back() - points[at]) * std::get<0>(scale.elements)[at];
                }
            }
        }
        row.inputs.insert(row.inputs.end(), {scale, whole(parameters, points, Element::i8)});
        row.inputs[weights] = numbers;
        row.outputs.push_back(whole({d, rows, columns}, stored, Element::i8));
    }
    const std::vector<Numbers> stored(row.outputs.end() - 2, row.outputs.end());
    row.outputs = Reference(layer, row.inputs).run();
    row.inputs[1] = stored[0], row.inputs[2] = stored[1];
    row.op_type = "DynamicQuantizeLSTM", row.opset = 1, row.domain = "com.microsoft";
    return row;
}

TEST(Recurrent, QuantizedByRanges) {
    for (const char *direction : {"forward", "reverse", "bidirectional"}) {
        for (const bool of_columns : {false, true}) {
            for (const bool has_initial : {false, true}) {
                SCOPED_TRACE(direction);
                expect_outputs(quantized_case_of(with(lstm,
                                                      [&](Layer &l) {
                                                          l.batch = 1, l.direction = direction;
                                                          l.has_initial = has_initial, l.is_quantized = true;
                                                      }),
                                                 of_columns));
            }
        }
    }
}

TEST(Recurrent, SequencesOfSeveralLengths) {
    for (const Layer &plain : {rnn, gru, lstm}) {
        SCOPED_TRACE(plain.op_type);
        for (const char *direction : {"forward", "reverse", "bidirectional"}) {
            for (const std::vector<int64_t> &lengths :
                 std::vector<std::vector<int64_t>>{{3, 1}, {2, 3}, {3, 3}, {0, 2}}) {
                for (const bool has_initial : {false, true}) {
                    expect_layer(with(plain, [&](Layer &l) {
                        l.direction = direction, l.lengths = lengths, l.has_initial = has_initial;
                    }));
                }
            }
        }
        expect_layer(with(plain, [](Layer &l) {
            l.is_batch_first = true, l.lengths = {1, 3}, l.attributes = {integer("layout", 1)};
        }));
    }
}

TEST(Recurrent, Activations) {
    const auto texts = [](std::vector<std::string> names) { return onnx::Attribute{"activations", std::move(names)}; };
    // Numbers go to the functions that take some, in their order.
    expect_layer(with(lstm, [&](Layer &l) {
        l.attributes = {texts({"HardSigmoid", "relu", "ScaledTanh"}), reals("activation_alpha", {0.5F, 0.75F}),
                        reals("activation_beta", {0.25F, 1.5F})};
        l.activations = {[](double x) { return std::clamp(0.5 * x + 0.25, 0.0, 1.0); },
                         [](double x) { return std::max(x, 0.0); }, [](double x) { return 0.75 * std::tanh(1.5 * x); }};
    }));
    const std::vector<std::pair<std::string, Activation>> others{
        {"Affine", [](double x) { return x; }},
        {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
        {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }},
        {"Softplus", [](double x) { return std::log(1 + std::exp(x)); }},
        {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
        {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
    };
    for (const auto &[name, function] : others) {
        expect_layer(with(rnn, [&](Layer &l) {
            l.direction = "bidirectional", l.attributes = {texts({name, name})}, l.activations = {function};
        }));
    }
}

// As ONNX names them where nobody does.
TEST(Recurrent, ActivationsBehindThoseOfAnRnnAreNotUsed) {
    expect_layer(with(rnn, [&](Layer &l) {
        l.attributes = {onnx::Attribute{"activations", std::vector<std::string>{"Tanh", "Sine"}}};
    }));
}

TEST(Recurrent, StatesOfZerosAreNone) {
    RuleCase row = case_of(with(lstm, [](Layer &l) { l.has_initial = false; }));
    const auto without = model_of(row).lowered();
    row.inputs[5] = row.inputs[6] = floats({1, 2, 4}, Row(8, 0));
    const auto with_zeros = model_of(row).lowered();
    ASSERT_TRUE(without && with_zeros);
    EXPECT_EQ(operators(*without), operators(*with_zeros));
    expect_outputs(row);
}

TEST(Recurrent, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const std::vector<Bad> rows{
        {[](RuleCase &row) {
             row.inputs[4] = whole({2}, {3, 4}, Element::i32);
         },
         "its input 'sequence_lens' has a sequence of 4 steps of 3"},
        {[](RuleCase &row) {
             row.inputs[4] = whole({2}, {-1, 3}, Element::i32);
         },
         "its input 'sequence_lens' has a sequence of -1 steps of 3"},
        {[](RuleCase &row) {
             row.inputs[4] = whole({2}, {3, 3});
         },
         "its input 'sequence_lens' is i64, which must be i32"},
        {[](RuleCase &row) { row.attributes.back() = text("direction", "both"); }, "'direction' is 'both'"},
        {[](RuleCase &row) { row.attributes.push_back(integer("hidden_size", 5)); }, "'hidden_size' is 5"},
        {[](RuleCase &row) {
             row.inputs[1] = counted({1, 16, 6});
         },
         "its input 'W' of shape 1x16x6 is not 1x16x5"},
        {[](RuleCase &row) {
             row.inputs[3] = counted({1, 16});
         },
         "its input 'B'"},
        {[](RuleCase &row) {
             row.inputs[5] = counted({1, 2, 5});
         },
         "its input 'initial_h' of shape 1x2x5 is not 1x2x4"},
        {[](RuleCase &row) {
             row.inputs[6] = counted({2, 2, 4});
         },
         "its input 'initial_c' of shape 2x2x4 is not 1x2x4"},
        {[](RuleCase &row) { row.inputs[1]->form.type = Element::f16; }, "its input 'W' is f16, and its sequence f32"},
        {[](RuleCase &row) {
             row.inputs[3] = whole({1, 32}, std::vector<int64_t>(32, 1));
         },
         "its input 'B' is i64, and its sequence f32"},
        {[](RuleCase &row) {
             row.inputs[5] = whole({1, 2, 4}, std::vector<int64_t>(8, 1), Element::i32);
         },
         "its input 'initial_h' is i32, and its sequence f32"},
        {[](RuleCase &row) {
             row.inputs[4] = whole({3}, {3, 3, 3}, Element::i32);
         },
         "its input 'sequence_lens' of shape 3 is not 2"},
        {[](RuleCase &row) {
             row.inputs[0] = counted({3, 2});
         },
         "has not the axes"},
        {[](RuleCase &row) {
             row.attributes.push_back({"activations", std::vector<std::string>{"Sine", "Tanh", "Tanh"}});
         },
         "no activation 'Sine'"},
        {[](RuleCase &row) {
             row.attributes.push_back({"activations", std::vector<std::string>{"Tanh"}});
         },
         "names 1 activations; needs 3"},
        {[](RuleCase &row) {
             row.inputs[0] = counted({3000, 2, 5});
         },
         "its sequence has 3000 steps"},
    };
    for (const Bad &bad : rows) {
        RuleCase row = case_of(lstm);
        bad.change(row);
        const auto graph = model_of(row).lowered();
        ASSERT_FALSE(graph) << bad.message;
        EXPECT_NE(graph.error().message.find(bad.message), std::string::npos) << graph.error().message;
    }
    RuleCase lengths = case_of(lstm);
    lengths.inputs[4] = whole({2}, {3, 3}, Element::i32);
    expect_outputs(lengths);
}

}  // namespace
}  // namespace kiln::graph
