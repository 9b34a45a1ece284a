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

}  // namespace
}  // namespace kiln::graph
