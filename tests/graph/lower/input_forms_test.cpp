// Shapes of inputs: the model's, those that --shape states, and what is said where they are missing.
#include <gtest/gtest.h>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

onnx::Dimension fixed(int64_t size) { return {size, ""}; }
onnx::Dimension named(const char *parameter) { return {{}, parameter}; }
onnx::Dimension open() { return {}; }

using Dimensions = std::vector<onnx::Dimension>;

// y = relu(x), and z = relu(mask) where there are two inputs.
BuiltModel model(std::optional<Dimensions> x, std::optional<Dimensions> mask = {}) {
    BuiltModel built;
    built.model().inputs.push_back({"x", Element::f32, std::move(x)});
    built.node("Relu", {"x"}, {"y"}).output("y");
    if (!mask) return built;
    built.model().inputs.push_back({"mask", Element::f32, std::move(mask)});
    return built.node("Relu", {"mask"}, {"z"}).output("z");
}

BuiltModel renamed(const char *input, std::optional<Dimensions> form) {
    BuiltModel built;
    built.model().inputs.push_back({input, Element::f32, std::move(form)});
    return built.node("Relu", {input}, {"y"}).output("y");
}

TEST(InputForms, Known) {
    struct Row {
        BuiltModel model;
        std::vector<InputShape> stated;
        std::vector<Shape> expected;
    };
    const Row rows[] = {
        {model(Dimensions{fixed(2), fixed(3)}), {}, {{2, 3}}},
        {model(Dimensions{}), {}, {{}}},
        {model(Dimensions{fixed(0), fixed(3)}), {}, {{0, 3}}},
        {model(Dimensions{named("N"), fixed(3)}), {{"x", {5, 3}}}, {{5, 3}}},
        {model(Dimensions{fixed(2), fixed(3)}), {{"x", {2, 3}}}, {{2, 3}}},
        {model(std::nullopt), {{"x", {7}}}, {{7}}},
        // Exporters that write 0 or -1 for what is open.
        {model(Dimensions{fixed(0), fixed(-1)}), {{"x", {5, 3}}}, {{5, 3}}},
        // A name stands for one extent wherever it occurs.
        {model(Dimensions{named("N"), fixed(3)}, Dimensions{named("N")}), {{"x", {5, 3}}}, {{5, 3}, {5}}},
    };
    for (const Row &row : rows) {
        const auto graph = row.model.lowered(row.stated);
        ASSERT_TRUE(graph) << graph.error().message;
        ASSERT_EQ(graph->inputs.size(), row.expected.size());
        for (size_t i = 0; i < row.expected.size(); i++) {
            EXPECT_EQ(graph->values[graph->inputs[i]].form.shape, row.expected[i]);
        }
    }
}

TEST(InputForms, Refused) {
    BuiltModel constant = model(Dimensions{fixed(2)});
    constant.constant("c", counted({2})).input("c", {2});
    BuiltModel untyped = model(Dimensions{fixed(2)});
    untyped.model().inputs[0].type = {};
    struct Row {
        BuiltModel model;
        std::vector<InputShape> stated;
        const char *message;
    };
    const Row rows[] = {
        {model(Dimensions{named("N"), fixed(3), open()}), {}, "with numbers for what is open: --shape x=Nx3x?"},
        {model(Dimensions{named("N")}, Dimensions{open()}), {}, "--shape x=N --shape mask=?"},
        {model(std::nullopt), {}, "--shape x=..."},
        // Nothing that a shell would obey.
        {renamed("$(id)", Dimensions{named("`id`"), named("N")}), {}, "--shape NAME=?xN (NAME is '$(id)')"},
        {renamed("-x", std::nullopt), {}, "--shape NAME=... (NAME is '-x')"},
        {model(Dimensions{fixed(-1)}), {}, "--shape x=?"},
        {model(Dimensions{fixed(2), fixed(3)}),
         {{"x", {2, 4}}},
         "--shape 'x': 2x4 does not fit 2x3, which the model says"},
        {model(Dimensions{fixed(2), named("N")}), {{"x", {2}}}, "--shape 'x': 2 does not fit 2xN"},
        {model(Dimensions{fixed(2)}), {{"y", {2}}}, "--shape: 'y' is no input of the model; its inputs are 'x'"},
        {constant, {{"c", {2}}}, "--shape: 'c' is a constant of the model"},
        {model(Dimensions{open()}), {{"x", {2}}, {"x", {3}}}, "states the shape of 'x' twice"},
        {model(Dimensions{open()}), {{"x", {-2}}}, "input 'x'"},
        {model(Dimensions{open(), open()}), {{"x", {1 << 30, 1 << 30}}}, "input 'x'"},
        {untyped, {}, "does not say the type of its input 'x'"},
    };
    for (const Row &row : rows) {
        const auto graph = row.model.lowered(row.stated);
        ASSERT_FALSE(graph) << row.message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
}

TEST(InputForms, ConstantsAmongTheInputsAreNone) {
    const auto graph = BuiltModel(9)
                           .input("x", {2})
                           .input("c", {2})
                           .constant("c", counted({2}))
                           .node("Add", {"x", "c"}, {"y"})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(graph->inputs.size(), 1);
}

TEST(InputConstants, TakeThePlaceOfInputs) {
    const auto with = [](Element type, Shape shape, const InputConstant &constant) {
        BuiltModel model;
        model.input("x", {4}).input("n", std::move(shape), type).node("Cast", {"n"}, {"f"}, {integer("to", 1)});
        return model.node("Mul", {"x", "f"}, {"y"}).output("y").lowered_with({constant});
    };
    const struct {
        Element type;
        Shape shape;
        std::vector<double> elements, result;
    } rows[] = {
        {Element::i64, {}, {2}, {-2, 4, -6, 8}},
        {Element::f32, {4}, {0.5}, {-0.5, 1, -1.5, 2}},
        {Element::u8, {4}, {1, 2, 3, 255}, {-1, 4, -9, 1020}},
        {Element::boolean, {1}, {1}, {-1, 2, -3, 4}},
    };
    for (const auto &row : rows) {
        const auto graph = with(row.type, row.shape, {"n", row.elements});
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(graph->inputs.size(), 1u);
        const auto outputs = evaluate(*graph, {floats({4}, {-1, 2, -3, 4})});
        ASSERT_TRUE(outputs) << outputs.error().message;
        EXPECT_EQ(outputs->front(), floats({4}, row.result));
    }
    const struct {
        Element type;
        Shape shape;
        InputConstant constant;
        const char *message;
    } wrong[] = {
        {Element::i64, {}, {"m", {1}}, "--constant: 'm' is no input of the model; its inputs are 'x', 'n'"},
        {Element::i64, {}, {"n", {1, 2}}, "--constant 'n': it has 2 numbers, and the input, scalar, has 1 elements"},
        {Element::i64, {}, {"n", {1.5}}, "the input is i64, and a number of it is no such integer"},
        {Element::i64, {}, {"n", {1e300}}, "the input is i64, and a number of it is no such integer"},
        {Element::u8, {}, {"n", {256}}, "the input is u8, which does not hold the number"},
        {Element::f16, {}, {"n", {1e6}}, "the input is f16, which does not hold the number"},
        {Element::f32, {1 << 20, 1 << 20}, {"n", {1}}, "has more elements than kiln computes beforehand"},
        {Element::u8, {}, {"n", {-1}}, "the input is u8, which does not hold the number"},
        {Element::boolean, {}, {"n", {2}}, "the input is bool, which does not hold the number"},
    };
    for (const auto &row : wrong) {
        const auto graph = with(row.type, row.shape, row.constant);
        ASSERT_FALSE(graph) << row.message;
        EXPECT_EQ(graph.error().code, ErrorCode::bad_input);
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
    BuiltModel unread;
    unread.input("x", {4}).output("x").input("s", {}).model().unread["s"] = "of type string";
    EXPECT_NE(unread.lowered_with({{"s", {1}}}).error().message.find("'s' is of type string, which kiln does not read"),
              std::string::npos);
    BuiltModel twice;
    twice.input("x", {4}).output("x");
    EXPECT_NE(twice.lowered_with({{"x", {1}}, {"x", {2}}}).error().message.find("states the value of 'x' twice"),
              std::string::npos);
}

}  // namespace
}  // namespace kiln::graph
