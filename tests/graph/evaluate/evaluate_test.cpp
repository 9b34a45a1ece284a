#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/graph/evaluate/numbers_of.h"

namespace kiln::graph {
namespace {

ConstantData bytes_of(const std::vector<float> &values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return ConstantData(std::move(bytes));
}

Expression sum_of_two() { return apply(Function::add, operand(0), operand(1)); }

// y = (x + c) * (x + c), and the network has x, c and y twice as outputs.
Graph sample() {
    GraphBuilder builder;
    const ValueId x = builder.input("x", {Element::f32, {2}});
    const ValueId c = builder.constant("c", {Element::f32, {2}}, bytes_of({10, 20}));
    const ValueId sum = *builder.node(Elementwise{sum_of_two(), {2}}, {x, c}, "sum", {});
    const ValueId y =
        *builder.node(Elementwise{apply(Function::multiply, operand(0), operand(1)), {2}}, {sum, sum}, "y", {});
    (void)*builder.node(Concat{0}, {y, y}, "unused", {});
    for (ValueId id : {y, x, c, y}) builder.output("out", id);
    return std::move(builder).finish();
}

TEST(Evaluate, a_graph) {
    const auto outputs = evaluate(sample(), {floats({2}, {1, 2})});
    ASSERT_TRUE(outputs) << outputs.error().message;
    ASSERT_EQ(outputs->size(), 4u);
    EXPECT_EQ((*outputs)[0], floats({2}, {121, 484}));
    EXPECT_EQ((*outputs)[1], floats({2}, {1, 2}));
    EXPECT_EQ((*outputs)[2], floats({2}, {10, 20}));
    EXPECT_EQ((*outputs)[3], floats({2}, {121, 484}));
}

TEST(Evaluate, every_value_is_observed_once) {
    const Graph graph = sample();
    std::map<std::string, int> seen;
    EvaluationOptions options;
    options.observe = [&](ValueId id, const Numbers &numbers) {
        EXPECT_EQ(numbers.form, graph.values[id].form);
        seen[graph.values[id].name]++;
    };
    ASSERT_TRUE(evaluate(graph, {floats({2}, {1, 2})}, options));
    EXPECT_EQ(seen, (std::map<std::string, int>{{"x", 1}, {"c", 1}, {"sum", 1}, {"y", 1}, {"unused", 1}}));
}

TEST(Evaluate, inputs_that_do_not_fit) {
    const std::pair<std::vector<Numbers>, std::string> rows[] = {
        {{}, "0 inputs"},
        {{floats({2}, {1, 2}), floats({2}, {1, 2})}, "2 inputs"},
        {{floats({3}, {1, 2, 3})}, "input `x` is f32 3"},
        {{floats({2}, {1, 2}, Element::f16)}, "f16"},
        {{floats({2}, {1})}, "1 floats"},
        {{integers({2}, {1, 2}, Element::f32)}, "2 integers"},
    };
    for (const auto &[inputs, part] : rows) {
        const auto outputs = evaluate(sample(), inputs);
        ASSERT_FALSE(outputs) << part;
        EXPECT_NE(outputs.error().message.find(part), std::string::npos) << outputs.error().message;
    }
}

TEST(Evaluate, can_be_interrupted) {
    EvaluationOptions options;
    options.interrupted = [] { return true; };
    const auto outputs = evaluate(sample(), {floats({2}, {1, 2})}, options);
    ASSERT_FALSE(outputs);
    EXPECT_EQ(outputs.error().code, ErrorCode::interrupted);
}

TEST(Evaluate, what_is_too_large_is_refused) {
    const int64_t extent = most_elements_at_once / 2 + 1;
    expect_error(Elementwise{constant(1), {2, extent}}, {}, "more than can be computed");
    // A value in between, though the result is small.
    expect_error(Resample{{{.axis = 0, .indices = std::vector<int64_t>(100'000, 0)}, {.axis = 1, .indices = {0}}}, 0},
                 {counted({1, 10'000})}, "more than can be computed");
    expect_error(Concat{0}, {floats({2}, {1})}, "1 floats");
    expect_error(Concat{1}, {floats({1}, {1})}, "axis 1");
}

TEST(Evaluate, constants) {
    const Numbers rows[] = {
        floats({3}, {1.5, -infinity, nan}),       floats({2}, {1.5, 65504}, Element::f16),
        integers({3}, {INT64_MIN, 0, INT64_MAX}), integers({2}, {0, 1}, Element::boolean),
        integers({2}, {-128, 127}, Element::i8),  floats({0}, {}),
    };
    for (const Numbers &numbers : rows) {
        const ConstantData data = to_constant(numbers);
        EXPECT_EQ(data.bytes().size(),
                  static_cast<size_t>(*element_count(numbers.form.shape) * size_of(numbers.form.type)));
        EXPECT_EQ(to_constant(from_constant(numbers.form, data)), data);
    }
    EXPECT_EQ(round_to_type(floats({2}, {0.1, 1e300})), floats({2}, {0.1f, infinity}));
    EXPECT_EQ(round_to_type(floats({1}, {0.1}, Element::f64)), floats({1}, {0.1}, Element::f64));
    EXPECT_EQ(round_to_type(integers({2}, {1000, -5}, Element::u8)), integers({2}, {255, 0}, Element::u8));
}

}  // namespace
}  // namespace kiln::graph
