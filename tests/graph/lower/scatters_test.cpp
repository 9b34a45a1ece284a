// GatherElements, GatherND, ScatterElements and ScatterND; computed_scatters_test.cpp has scatters by computed indices.
#include <algorithm>
#include <iterator>

#include "tests/graph/lower/rule_cases.h"

namespace kiln::graph {
namespace {

std::vector<RuleCase> gathers() {
    const Numbers square = counted({2, 2}), cube = counted({2, 2, 2}), rows = counted({3, 2});
    return {
        {"GatherElements",
         13,
         {integer("axis", 1)},
         {square, whole({2, 2}, {0, 0, 1, 0})},
         {floats({2, 2}, {1, 1, 4, 3})}},
        {"GatherElements", 13, {}, {rows, whole({2, 1}, {-1, 1})}, {floats({2, 1}, {5, 3})}},
        {"GatherElements",
         13,
         {integer("axis", -1)},
         {cube, whole({1, 2, 3}, {0, 1, -1, 1, 0, 0}, Element::i32)},
         {floats({1, 2, 3}, {1, 2, 2, 4, 3, 3})}},
        {"GatherND", 12, {}, {square, whole({2, 2}, {0, 0, 1, 1})}, {line({1, 4})}},
        {"GatherND", 12, {}, {square, whole({2, 1}, {1, -2})}, {floats({2, 2}, {3, 4, 1, 2})}},
        {"GatherND", 11, {}, {cube, whole({2, 1, 2}, {0, 1, 1, 0})}, {floats({2, 1, 2}, {3, 4, 5, 6})}},
        {"GatherND", 12, {integer("batch_dims", 1)}, {cube, whole({2, 1}, {1, 0})}, {floats({2, 2}, {3, 4, 5, 6})}},
        {"GatherND", 12, {integer("batch_dims", 1)}, {rows, whole({3, 1}, {1, 0, -1})}, {line({2, 3, 6})}},
    };
}

TEST(Scatters, ElementsByTheirPlaces) {
    const Numbers cube = counted({2, 2, 2}), rows = counted({3, 2});
    const std::vector<RuleCase> cases{
        {"ScatterElements",
         16,
         {integer("axis", 1)},
         {floats({1, 5}, {1, 2, 3, 4, 5}), whole({1, 2}, {1, -2}), floats({1, 2}, {7, 8})},
         {floats({1, 5}, {1, 7, 3, 8, 5})}},
        {"Scatter",
         9,
         {},
         {counted({3, 3}, 0), whole({2, 3}, {1, 0, 2, 0, 2, 1}), floats({2, 3}, {10, 11, 12, 20, 21, 22})},
         {floats({3, 3}, {20, 11, 2, 10, 4, 22, 6, 21, 12})}},
        // The last of two elements for one place stays.
        {"ScatterElements", 13, {}, {line({1, 2}), list({1, 1}), line({3, 4})}, {line({1, 4})}},
        {"ScatterND",
         16,
         {},
         {counted({8}), whole({4, 1}, {4, 3, 1, 7}), line({9, 10, 11, 12})},
         {line({1, 11, 3, 10, 9, 6, 7, 12})}},
        {"ScatterND",
         11,
         {},
         {cube, whole({1, 2}, {1, 0}), floats({1, 2}, {-1, -2})},
         {floats({2, 2, 2}, {1, 2, 3, 4, -1, -2, 7, 8})}},
        {"ScatterND",
         16,
         {text("reduction", "none")},
         {rows, whole({2, 1}, {2, -3}), floats({2, 2}, {9, 8, 7, 6})},
         {floats({3, 2}, {7, 6, 3, 4, 9, 8})}},
    };
    for (const RuleCase &row : gathers()) expect_outputs(row);
    for (const RuleCase &row : cases) expect_outputs(row);
}

TEST(Scatters, JoinedWithWhatIsThere) {
    // A column of indices of one axis means the same to ScatterND as a row of indices to ScatterElements.
    const auto elements = [](const char *reduction, const Numbers &expected) {
        expect_outputs({"ScatterElements",
                        18,
                        {text("reduction", reduction)},
                        {line({1, -2, 3}), list({2, 0}), line({5, -4})},
                        {expected}});
        expect_outputs({"ScatterND",
                        18,
                        {text("reduction", reduction)},
                        {line({1, -2, 3}), whole({2, 1}, {2, 0}), line({5, -4})},
                        {expected}});
    };
    elements("none", line({-4, -2, 5}));
    elements("add", line({-3, -2, 8}));
    elements("mul", line({-4, -2, 15}));
    elements("max", line({1, -2, 5}));
    elements("min", line({-4, -2, 3}));
    expect_outputs({"ScatterElements",
                    18,
                    {text("reduction", "add")},
                    {list({1, 2}), whole({1}, {1}), list({5})},
                    {list({1, 7})}});
    expect_outputs({"ScatterElements",
                    18,
                    {text("reduction", "add")},
                    {counted({2}), whole({0}, {}), floats({0}, {})},
                    {counted({2})}});
}

// Several updates of one element, of others one or none.
TEST(Scatters, JoinedWithEachOther) {
    const auto elements = [](const char *reduction, const Numbers &expected) {
        expect_outputs({"ScatterElements",
                        18,
                        {text("reduction", reduction)},
                        {line({1, -2, 3, 4}), list({2, 0, -2, 2, -1}), line({5, -4, 2, -3, 6})},
                        {expected}});
    };
    elements("none", line({-4, -2, -3, 6}));
    elements("add", line({-3, -2, 7, 10}));
    elements("mul", line({-4, -2, -90, 24}));
    elements("max", line({1, -2, 5, 6}));
    elements("min", line({-4, -2, -3, 4}));
    const Numbers rows = counted({3, 2});
    expect_outputs({"ScatterND",
                    16,
                    {text("reduction", "add")},
                    {rows, whole({3, 1}, {2, 0, -1}), floats({3, 2}, {10, nan, 30, 40, 50, 60})},
                    {floats({3, 2}, {31, 42, 3, 4, 65, nan})}});
    expect_outputs({"ScatterElements",
                    18,
                    {text("reduction", "mul")},
                    {list({2, 3}), whole({3}, {1, 1, 1}), list({2, 3, 4})},
                    {list({2, 72})}});
}

TEST(Scatters, Refused) {
    struct Bad {
        RuleCase node;
        std::string message;
    };
    const Numbers square = counted({2, 2});
    const std::vector<Bad> rows{
        {{"GatherElements", 13, {}, {square, whole({1, 2}, {0, 2})}, {}}, "index 2 is not within axis 0"},
        {{"GatherElements", 13, {}, {square, list({0})}, {}}, "have not the axes of its data"},
        {{"GatherElements", 13, {}, {square, whole({1, 3}, {0, 0, 0})}, {}}, "index 2 is not within axis 1"},
        {{"GatherND", 12, {}, {square, whole({1, 3}, {0, 0, 0})}, {}}, "do not lead into"},
        {{"GatherND", 12, {integer("batch_dims", 1)}, {square, whole({3, 1}, {0, 0, 0})}, {}}, "other batches"},
        {{"GatherND", 12, {}, {square, whole({1, 2}, {0, -3})}, {}}, "index -3 is not within axis 1"},
        {{"ScatterElements",
          18,
          {text("reduction", "max")},
          {whole({1}, {1}, Element::boolean), list({0}), whole({1}, {1}, Element::boolean)},
          {}},
         "its attribute 'reduction' is 'max', and its data are bool; cast them to int32"},
        {{"ScatterND", 16, {text("reduction", "all")}, {square, whole({1, 1}, {0}), counted({1, 2})}, {}},
         "its attribute 'reduction' is 'all', which must be none, add, mul, max or min"},
        {{"ScatterND", 16, {}, {square, whole({1, 1}, {0}), counted({2})}, {}}, "are not 1x2"},
        {{"ScatterElements", 16, {}, {square, whole({1, 1}, {0}), counted({1, 2})}, {}},
         "its updates of shape 1x2 are not 1x1, as its indices ask for"},
    };
    for (const Bad &bad : rows) {
        RuleCase node = bad.node;
        node.outputs = {counted({1})};
        expect_refused(model_of(node), bad.message);
    }
    // Indices that a few bytes ask for without end are not even listed.
    for (const std::string op : {"ScatterElements", "ScatterND"}) {
        const Numbers shape = list({1 << 25, 2}), of_updates = op == "ScatterND" ? list({1 << 25}) : shape;
        const auto many = BuiltModel()
                              .input("x", {1, 2})
                              .constant("shape", shape)
                              .constant("shape_of_updates", of_updates)
                              .constant("zero", whole({1}, {0}))
                              .constant("number", line({0}))
                              .node("Expand", {"zero", "shape"}, {"i"})
                              .node("Expand", {"number", "shape_of_updates"}, {"updates"})
                              .node(op, {"x", "i", "updates"}, {"y"})
                              .output("y")
                              .lowered({}, {.elements = 1 << 20});
        ASSERT_FALSE(many);
        EXPECT_NE(many.error().message.find("it would give an axis 33554432 places, which is too many; kiln lists up "
                                            "to 16777216: divide the axis"),
                  std::string::npos)
            << many.error().message;
    }
}

// Places that are computed lead to the same elements as known ones; those outside take 0.
TEST(Scatters, ElementsByComputedPlaces) {
    const Numbers rows = counted({3, 2}), long_rows = counted({2, 3, 1, 4});
    std::vector<RuleCase> cases{
        {"GatherElements", 13, {}, {rows, whole({2, 2}, {3, -4, 2, 0})}, {floats({2, 2}, {0, 0, 5, 2})}},
        {"GatherElements", 13, {}, {rows, whole({0, 2}, {})}, {floats({0, 2}, {})}},
        {"GatherND",
         12,
         {integer("batch_dims", 1)},
         {long_rows, whole({2, 2, 2}, {2, 0, 0, -1, 1, 0, 0, 7})},
         {floats({2, 2, 4}, {9, 10, 11, 12, 1, 2, 3, 4, 17, 18, 19, 20, 0, 0, 0, 0})}},
    };
    std::ranges::copy(gathers(), std::back_inserter(cases));
    for (const RuleCase &row : cases) {
        SCOPED_TRACE(row.op_type + " " + to_text(row.inputs[1]->form.shape));
        const auto graph = BuiltModel(row.opset)
                               .input("x", row.inputs[0]->form.shape)
                               .input("i", row.inputs[1]->form.shape, row.inputs[1]->form.type)
                               .node(row.op_type, {"x", "i"}, {"y"}, row.attributes)
                               .output("y")
                               .lowered();
        ASSERT_TRUE(graph) << graph.error().message;
        const auto outputs = evaluate(*graph, {*row.inputs[0], *row.inputs[1]});
        ASSERT_TRUE(outputs) << outputs.error().message;
        expect_numbers(outputs->at(0), row.outputs[0]);
    }
    const auto too_many = BuiltModel()
                              .input("x", {2, 2})
                              .input("i", {1, 3}, Element::i64)
                              .node("GatherElements", {"x", "i"}, {"y"})
                              .output("y")
                              .lowered();
    ASSERT_FALSE(too_many);
    EXPECT_NE(too_many.error().message.find("are more than its input of shape 2x2 has along axis 1"), std::string::npos)
        << too_many.error().message;
}

}  // namespace
}  // namespace kiln::graph
