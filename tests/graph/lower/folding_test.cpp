// What is computed before a network runs, and what is left to it because it would be too much.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

// y is a constant of 64 x 64 x 64 numbers, the square of another one.
BuiltModel expensive() {
    return BuiltModel()
        .constant("shape", list({64, 64, 64}))
        .node("ConstantOfShape", {"shape"}, {"c"}, {onnx::Attribute{"value", tensor("", floats({1}, {1.5}))}})
        .node("MatMul", {"c", "c"}, {"y"})
        .output("y");
}

TEST(Folding, ConstantsAreComputedAtOnce) {
    const auto graph = expensive().lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    ASSERT_EQ(graph->values.size(), 1);
    ASSERT_TRUE(graph->values[0].constant);
    EXPECT_EQ(read_float(Element::f32, graph->values[0].constant->bytes().data()), 144);
}

TEST(Folding, IsBounded) {
    struct Row {
        FoldingBounds bounds;
        const char *operators;  // that are left
    };
    const Row rows[] = {
        {{.elements = 1 << 18}, ""},
        {{.elements = (1 << 18) - 1}, "elementwise matrix_product"},
        {{.all_elements = 1 << 19}, ""},
        {{.all_elements = (1 << 19) - 1}, "matrix_product"},
        // One element is read and repeated, then two operands of the product are read.
        {{.steps = 1 + (1 << 18) + 2 * (1 << 18) + (1 << 24)}, ""},
        {{.steps = 3 * (1 << 18) + (1 << 24)}, "matrix_product"},
        {{.elements = 0, .all_elements = 0, .steps = 0}, "elementwise matrix_product"},
    };
    for (const Row &row : rows) {
        const auto graph = expensive().lowered({}, row.bounds);
        ASSERT_TRUE(graph) << graph.error().message;
        EXPECT_EQ(operators(*graph), row.operators);
    }
}

TEST(Folding, WindowsCountTheirPixels) {
    const int64_t window = int64_t{1} << 31, end = window - 4;
    const auto graph = BuiltModel()
                           .constant("c", counted({1, 1, 4, 4}))
                           .node("MaxPool", {"c"}, {"y"},
                                 {integers("kernel_shape", {window, window}), integers("pads", {0, 0, end, end})})
                           .output("y")
                           .lowered({}, {.steps = 32});
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(operators(*graph), "");
}

TEST(Folding, ListsAreBoundedTogether) {
    BuiltModel model;
    model.input("x", {100}).constant("pads", list({1, 0}));
    for (int i = 0; i < 10; i++) {
        const std::string y = "y" + std::to_string(i);
        model.node("Pad", {"x", "pads"}, {y}).output(y);
    }
    EXPECT_TRUE(model.lowered({}, {.indices = 1010}));
    const auto refused = model.lowered({}, {.indices = 1009});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("node 'Pad_9' (Pad): slices, pads and resizes of the model take too many"),
              std::string::npos)
        << refused.error().message;

    BuiltModel places;
    places.input("x", {100}).node("ArgMax", {"x"}, {"y"}).output("y");
    EXPECT_TRUE(places.lowered({}, {.all_elements = 100}));
    EXPECT_FALSE(places.lowered({}, {.all_elements = 99}));
}

// Many nodes may each take one element of a large constant, or need to know all of it.
TEST(Folding, WhatIsReadCounts) {
    constexpr int64_t extent = 1 << 12;
    BuiltModel taken;
    taken.input("x", {1}).constant("c", counted({extent})).constant("i", list({7}));
    BuiltModel known;
    known.input("x", {1}).constant("c", whole({extent}, std::vector<int64_t>(extent, 0)));
    for (int i = 0; i < 10; i++) {
        const std::string y = "y" + std::to_string(i);
        taken.node("Gather", {"c", "i"}, {y}).output(y);
        known.node("Gather", {"x", "c"}, {y}).output(y);
    }
    const auto some = taken.lowered({}, {.steps = 4 * (extent + 1)});
    ASSERT_TRUE(some) << some.error().message;
    EXPECT_EQ(operators(*some), "resample resample resample resample resample resample");
    EXPECT_TRUE(known.lowered({}, {.steps = 10 * extent}));
    const auto refused = known.lowered({}, {.steps = 10 * extent - 1});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("node 'Gather_9' (Gather): its input 'indices' is one of more constants"),
              std::string::npos)
        << refused.error().message;
}

// Quantized models give numbers that an operator must know as stored ones, too.
TEST(Folding, DequantizedNumbersAreKnown) {
    const auto graph = BuiltModel()
                           .input("x", {2})
                           .constant("pads", list({1, 0}))
                           .constant("stored", whole({}, {7}, Element::u8))
                           .constant("scale", floats({}, {0.5}))
                           .constant("zero_point", whole({}, {3}, Element::u8))
                           .node("DequantizeLinear", {"stored", "scale", "zero_point"}, {"fill"})
                           .node("Pad", {"x", "pads", "fill"}, {"y"})
                           .output("y")
                           .lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto y = evaluate(*graph, {floats({2}, {3, 4})});
    ASSERT_TRUE(y) << y.error().message;
    EXPECT_EQ(y->at(0), floats({3}, {2, 3, 4}));
}

TEST(Folding, NodesAreBounded) {
    BuiltModel model;
    model.input("x", {3, 1, 1});
    for (const char *name : {"w", "r"}) model.constant(name, counted({1, 1, 1}));
    model.node("RNN", {"x", "w", "r"}, {"", "y"}).output("y");
    const auto all = model.lowered();
    ASSERT_TRUE(all) << all.error().message;
    const auto nodes = static_cast<int64_t>(all->nodes.size());
    EXPECT_TRUE(model.lowered({}, {.nodes = nodes}));
    EXPECT_FALSE(model.lowered({}, {.nodes = nodes - 1}));
}

TEST(Folding, TransposedConstantsAreThoseOfTheReference) {
    const std::vector<std::vector<int64_t>> permutations = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                            {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const Element type : {Element::u8, Element::f16, Element::f32, Element::f64}) {
        for (const auto &permutation : permutations) {
            Numbers numbers = counted({2, 3, 5});
            if (!is_float(type)) {
                std::vector<int64_t> elements(30);
                std::iota(elements.begin(), elements.end(), 0);
                numbers = whole({2, 3, 5}, elements);
            }
            numbers.form.type = type;
            const auto graph = BuiltModel()
                                   .constant("c", numbers)
                                   .node("Transpose", {"c"}, {"y"}, {integers("perm", permutation)})
                                   .output("y")
                                   .lowered();
            ASSERT_TRUE(graph) << graph.error().message;
            const Value &y = graph->values[graph->outputs[0].value];
            ASSERT_TRUE(y.constant);
            const auto expected = evaluate(Transpose{{permutation.begin(), permutation.end()}}, {&numbers});
            ASSERT_TRUE(expected) << expected.error().message;
            EXPECT_EQ(from_constant(y.form, *y.constant), *expected);
        }
    }
}

TEST(Folding, EqualTransposesAreOneConstant) {
    BuiltModel model;
    model.input("x", {2, 3}).constant("w", counted({4, 3})).constant("v", counted({4, 3}));
    for (int i = 0; i < 10; i++) {
        const std::string y = "y" + std::to_string(i);
        model.node("Gemm", {"x", i < 8 ? "w" : "v"}, {y}, {integer("transB", 1)}).output(y);
    }
    const auto graph = model.lowered({}, {.all_elements = 2 * 12});
    ASSERT_TRUE(graph) << graph.error().message;
    EXPECT_EQ(std::ranges::count_if(graph->values, [](const Value &value) { return value.constant.has_value(); }), 2);
}

// Each of these would be a constant, a list or a loop without end.
TEST(Folding, HostileSizesAreRefusedOrLeft) {
    const int64_t huge = int64_t{1} << 36;
    const auto built = [](const char *op, const Numbers &second, std::vector<onnx::Attribute> attributes = {}) {
        return BuiltModel()
            .input("x", {1, 1, 4, 4})
            .constant("c", second)
            .node(op, {"x", "c"}, {"y"}, attributes)
            .output("y");
    };
    const BuiltModel models[] = {
        built("Expand", list({huge, 1, 1, 1})),
        built("Tile", list({huge, 1, 1, 1})),
        built("Pad", list({0, 0, huge, 0, 0, 0, 0, 0})),
        built("Pad", list({INT64_MIN, 0, 0, 0, 0, 0, 0, INT64_MAX})),
        built("Pad", list({INT64_MIN, 0, 0, 0, 0, 0, 0, 0})),
        built("Pad", list({0, 0, 0, 0, 0, 0, 0, INT64_MIN})),
        built("Reshape", list({huge, huge, huge, -1})),
        built("Unsqueeze", list({INT64_MAX})),
        built("Slice", list({INT64_MIN})),
        BuiltModel().constant("c", list({huge, huge})).node("ConstantOfShape", {"c"}, {"y"}).output("y"),
        BuiltModel().constant("c", list({huge})).node("ConstantOfShape", {"c"}, {"y"}).output("y"),
        BuiltModel()
            .constant("a", whole({}, {INT64_MIN}))
            .constant("b", whole({}, {INT64_MAX}))
            .constant("c", whole({}, {1}))
            .node("Range", {"a", "b", "c"}, {"y"})
            .output("y"),
        BuiltModel()
            .input("x", {1, 1, 4, 4})
            .constant("s", floats({4}, {1, 1, 1e30, 1e-30}))
            .node("Resize", {"x", "", "s"}, {"y"})
            .output("y"),
        BuiltModel(18)
            .input("x", {1, 1, 1 << 20, 4})
            .constant("s", floats({4}, {1, 1, 1e-6, 1e-6}))
            .node("Resize", {"x", "", "s"}, {"y"}, {text("mode", "linear"), integer("antialias", 1)})
            .output("y"),
        BuiltModel()
            .input("x", {1, 1, 4, 4})
            .node("MaxPool", {"x"}, {"y"},
                  {integers("kernel_shape", {INT64_MAX, 1}), integers("dilations", {INT64_MAX, 1})})
            .output("y"),
        BuiltModel()
            .input("x", {1, 1, 4, 4})
            .constant("w", counted({1, 1, 1, 1}))
            .node("ConvTranspose", {"x", "w"}, {"y"}, {integers("strides", {1LL << 31, 1LL << 31})})
            .output("y"),
        BuiltModel()
            .input("x", {1, 1, 4})
            .input("w", {1, 1, 1 << 30})
            .node("ConvTranspose", {"x", "w"}, {"y"})
            .output("y"),
    };
    for (const BuiltModel &model : models) {
        const auto graph = model.lowered();
        EXPECT_TRUE(graph ? validate(*graph).ok() : !graph.error().message.empty());
    }
}

}  // namespace
}  // namespace kiln::graph
