#include "tests/graph/passes/sketch.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kiln::graph {

ValueId Sketch::input(const Shape &shape, Element type) { return builder_.input("", {type, shape}); }

ValueId Sketch::constant(const Shape &shape, std::vector<double> numbers) {
    const TypedShape form{Element::f32, shape};
    return builder_.constant("", form, to_constant({form, std::move(numbers)}));
}

ValueId Sketch::integers(const Shape &shape, std::vector<int64_t> numbers, Element type) {
    const TypedShape form{type, shape};
    return builder_.constant("", form, to_constant({form, std::move(numbers)}));
}

ValueId Sketch::random(const Shape &shape, double lo, double hi) {
    std::vector<double> numbers(element_count(shape).value());
    for (double &number : numbers) number = draw(lo, hi);
    return constant(shape, std::move(numbers));
}

ValueId Sketch::node(Operator op, std::vector<ValueId> inputs) {
    auto id = builder_.node(std::move(op), std::move(inputs), "", {});
    EXPECT_TRUE(id) << id.error().message;
    return *id;
}

ValueId Sketch::elementwise(const std::string &expression, std::vector<ValueId> inputs) {
    Shape together;
    for (ValueId id : inputs) together = broadcast(together, shape(id)).value();
    return node(Elementwise{parse_expression(expression).value(), together}, std::move(inputs));
}

ValueId Sketch::pad(ValueId x, int axis, int64_t before, int64_t behind, double fill) {
    const int64_t extent = shape(x)[axis];
    Resample::Axis change{.axis = axis, .taps = 1, .indices = {}, .weights = {}};
    for (int64_t i = -before; i < extent + behind; i++) {
        change.indices.push_back(i < 0 || i >= extent ? Resample::outside : i);
    }
    return node(Resample{{change}, fill}, {x});
}

ValueId Sketch::convolution(std::vector<ValueId> inputs, int64_t outputs, const Shape &window, Convolution op) {
    for (auto *field : {&op.strides, &op.input_dilation, &op.dilations}) field->resize(window.size(), 1);
    op.padding.resize(window.size());
    Shape weights{outputs, shape(inputs[0])[1] / op.groups};
    weights.insert(weights.end(), window.begin(), window.end());
    inputs.insert(inputs.begin() + 1, random(weights));
    return node(std::move(op), std::move(inputs));
}

Graph Sketch::finish(const std::vector<ValueId> &outputs) && {
    for (ValueId id : outputs) builder_.output("y" + std::to_string(builder_.graph().outputs.size()), id);
    return std::move(builder_).finish();
}

std::string told(const Graph &graph) {
    std::map<ValueId, std::string> names;
    for (ValueId id : graph.inputs) names[id] = "x" + std::to_string(names.size());
    std::string text;
    const auto name_of = [&](ValueId id) {
        return names.contains(id) ? names[id] : to_text(graph.values[id].form.shape);
    };
    for (size_t i = 0; i < graph.nodes.size(); i++) {
        const Node &node = graph.nodes[i];
        names[node.output] = "%" + std::to_string(i);
        text += names[node.output] + " = " + to_text(node.op) + " (";
        for (size_t k = 0; k < node.inputs.size(); k++) text += (k > 0 ? ", " : "") + name_of(node.inputs[k]);
        text += ")\n";
    }
    text += "->";
    for (const Output &output : graph.outputs) text += " " + name_of(output.value);
    return text;
}

std::vector<Numbers> drawn_inputs(const Graph &graph, uint64_t seed, double lo, double hi) {
    std::mt19937_64 rng(seed);
    std::vector<Numbers> inputs;
    for (ValueId id : graph.inputs) {
        const TypedShape &form = graph.values[id].form;
        if (!is_float(form.type)) {
            std::vector<int64_t> quanta(element_count(form.shape).value());
            const int64_t least = form.type == Element::u8 ? 0 : -128;
            for (int64_t &quantum : quanta) quantum = std::uniform_int_distribution<int64_t>(least, least + 255)(rng);
            inputs.push_back({form, std::move(quanta)});
            continue;
        }
        std::vector<double> numbers(element_count(form.shape).value());
        for (double &number : numbers) number = std::uniform_real_distribution(lo, hi)(rng);
        inputs.push_back(round_to_type({form, std::move(numbers)}));
    }
    return inputs;
}

void expect_equal_outputs(const Graph &before, const Graph &after, uint64_t seed, Closeness closeness) {
    const auto inputs = drawn_inputs(before, seed, closeness.lo, closeness.hi);
    const auto expected = evaluate(before, inputs), got = evaluate(after, inputs);
    ASSERT_TRUE(expected) << expected.error().message;
    ASSERT_TRUE(got) << got.error().message;
    ASSERT_EQ(expected->size(), got->size());
    for (size_t i = 0; i < expected->size(); i++) {
        const Numbers &a = (*expected)[i], &b = (*got)[i];
        ASSERT_EQ(a.form, b.form);
        if (a.elements.index() == 1) {
            ASSERT_EQ(std::get<1>(a.elements), std::get<1>(b.elements)) << told(before) << "\nbecame\n" << told(after);
            continue;
        }
        const auto &wanted = std::get<0>(a.elements), &found = std::get<0>(b.elements);
        double largest = 1;
        for (double number : wanted) {
            if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
        }
        for (size_t k = 0; k < wanted.size(); k++) {
            if (wanted[k] == found[k] || (std::isnan(wanted[k]) && std::isnan(found[k]))) continue;
            ASSERT_LE(std::abs(wanted[k] - found[k]), closeness.tolerance * largest)
                << "output " << i << ", element " << k << ": " << wanted[k] << " became " << found[k] << "\n"
                << told(before) << "\nbecame\n"
                << told(after);
        }
    }
}

void expect_same_results(const Graph &before, Graph (*pass)(const Graph &), uint64_t seed, Closeness closeness) {
    const Graph after = pass(before);
    const Status status = validate(after);
    ASSERT_TRUE(status) << status.error().message << "\n" << told(before);
    ASSERT_EQ(after.inputs.size(), before.inputs.size());
    EXPECT_EQ(told(pass(after)), told(after)) << "what was " << told(before);
    EXPECT_TRUE(pass(after) == after) << told(after);
    expect_equal_outputs(before, after, seed, closeness);
}

}  // namespace kiln::graph
