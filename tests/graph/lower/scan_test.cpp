// Scans: a graph that is repeated for each element of an axis.
#include <gtest/gtest.h>

#include "tests/graph/lower/built_model.h"

namespace kiln::graph {
namespace {

// The body of a scan: inputs `s`, what is carried, and `e`, an element of each scan input.
onnx::Attribute scan_body(const std::function<void(BuiltModel &)> &add_nodes, bool has_state = true,
                          const std::vector<std::string> &elements = {"e"}) {
    BuiltModel body;
    if (has_state) body.input("s", {});
    for (const std::string &name : elements) body.input(name, {});
    add_nodes(body);
    return branch("body", body);
}

void running_sum(BuiltModel &body) {
    body.node("Add", {"s", "e"}, {"next"}).node("Identity", {"next"}, {"row"}).output("next").output("row");
}

TEST(Scans, AreWrittenOut) {
    const Numbers counted_rows = counted({3, 2});  // 1 2, 3 4, 5 6
    const struct {
        const char *what;
        std::vector<onnx::Attribute> attributes;
        int64_t state;  // elements
        std::vector<double> last, all;
        const char *shape;  // of `all`
    } rows[] = {
        {"along the first axis", {}, 2, {9, 12}, {1, 2, 4, 6, 9, 12}, "3x2"},
        {"backward", {integers("scan_input_directions", {1})}, 2, {9, 12}, {5, 6, 8, 10, 9, 12}, "3x2"},
        {"prepended", {integers("scan_output_directions", {1})}, 2, {9, 12}, {9, 12, 4, 6, 1, 2}, "3x2"},
        {"along the last axis", {integers("scan_input_axes", {-1})}, 3, {3, 7, 11}, {1, 3, 5, 3, 7, 11}, "2x3"},
        {"stacked along the last axis", {integers("scan_output_axes", {1})}, 2, {9, 12}, {1, 4, 9, 2, 6, 12}, "2x3"},
        {"everything",
         {integers("scan_input_axes", {1}), integers("scan_input_directions", {1}), integers("scan_output_axes", {-1}),
          integers("scan_output_directions", {1})},
         3,
         {3, 7, 11},
         {3, 2, 7, 4, 11, 6},
         "3x2"},
    };
    for (const auto &row : rows) {
        std::vector<onnx::Attribute> attributes = row.attributes;
        attributes.push_back(integer("num_scan_inputs", 1));
        attributes.push_back(scan_body(running_sum));
        BuiltModel model;
        model.input("x", {3, 2}).constant("zero", floats({row.state}, std::vector<double>(size_t(row.state))));
        const auto graph =
            model.node("Scan", {"zero", "x"}, {"last", "all"}, attributes).output("last").output("all").lowered();
        ASSERT_TRUE(graph) << row.what << ": " << graph.error().message;
        const auto results = evaluate(*graph, {counted_rows});
        EXPECT_EQ(std::get<std::vector<double>>((*results)[0].elements), row.last) << row.what;
        EXPECT_EQ(std::get<std::vector<double>>((*results)[1].elements), row.all) << row.what;
        EXPECT_EQ(to_text(graph->values[graph->outputs[1].value].form.shape), row.shape) << row.what;
    }
}

// Without state: a product of two inputs' elements, read in opposite directions along axes of their own.
TEST(Scans, SeveralInputsPassTogether) {
    BuiltModel model;
    model.input("x", {4}).constant("w", floats({1, 4}, {1, 10, 100, 1000}));
    const auto product = [](BuiltModel &body) {
        body.node("Mul", {"a", "b"}, {"p"}).node("Neg", {"a"}, {"n"}).output("p").output("n");
    };
    model.node("Scan", {"x", "w"}, {"y", ""},
               {integer("num_scan_inputs", 2), integers("scan_input_axes", {0, 1}),
                integers("scan_input_directions", {0, 1}), scan_body(product, false, {"a", "b"})});
    const auto graph = model.output("y").lowered();
    ASSERT_TRUE(graph) << graph.error().message;
    const auto results = evaluate(*graph, {floats({4}, {-1, 2, -3, 4})});
    EXPECT_EQ(std::get<std::vector<double>>(results->front().elements), (std::vector<double>{-1000, 200, -30, 4}));
    EXPECT_EQ(to_text(graph->values[graph->outputs[0].value].form.shape), "4x1");
}

TEST(Scans, WhatStandsInTheWayIsNamed) {
    const auto model = [](std::vector<onnx::Attribute> attributes, const std::function<void(BuiltModel &)> &nodes,
                          const std::vector<std::string> &inputs = {"x", "m"},
                          const std::vector<std::string> &outputs = {"y", "all"}) {
        BuiltModel built;
        built.input("x", {2}).input("m", {3, 2}).input("none", {0, 2}).input("long", {20000, 2});
        attributes.push_back(scan_body(nodes));
        built.node("Scan", inputs, outputs, attributes);
        return built.output(outputs.back());
    };
    const onnx::Attribute one = integer("num_scan_inputs", 1);
    const struct {
        BuiltModel model;
        const char *message;
    } rows[] = {
        {model({integer("num_scan_inputs", 0)}, running_sum),
         "its attribute 'num_scan_inputs' is 0, and it has 2 inputs"},
        {model({integer("num_scan_inputs", 3)}, running_sum),
         "its attribute 'num_scan_inputs' is 3, and it has 2 inputs"},
        {model({}, running_sum), "'num_scan_inputs'"},
        {model({one}, running_sum, {"x", "x", "m"}), "its graph has 2 inputs, and the node gives it 3"},
        {model({one}, running_sum, {"x", "m"}, {"y"}), "its graph has 2 outputs, and the node needs 1"},
        {model({integer("num_scan_inputs", 2)}, running_sum), "its scan inputs have 2 and 3 elements along their axes"},
        {model({one, integers("scan_input_axes", {2})}, running_sum), "axis 2"},
        {model({one, integers("scan_input_axes", {0, 0})}, running_sum),
         "its attribute 'scan_input_axes' has 2 numbers and must have 1"},
        {model({one, integers("scan_input_directions", {2})}, running_sum),
         "its attribute 'scan_input_directions' has 2; must be 0 or 1"},
        {model({one, integers("scan_output_axes", {3})}, running_sum), "axis 3"},
        {model({one, integers("scan_output_directions", {0, 0})}, running_sum),
         "its attribute 'scan_output_directions' has 2 numbers and must have 1"},
        {model({one}, running_sum, {"x", "none"}), "it never repeats its graph"},
        {model({one}, running_sum, {"x", "long"}), "it repeats its graph more than 16384 times"},
        {model({one}, [](BuiltModel &body) { body.node("Odd", {"e"}, {"r"}).output("s").output("r"); }),
         "node 'Odd_0' (Odd): kiln has no operator"},
    };
    for (const auto &row : rows) {
        const auto graph = row.model.lowered();
        ASSERT_FALSE(graph) << row.message;
        EXPECT_NE(graph.error().message.find(row.message), std::string::npos) << graph.error().message;
    }
}

}  // namespace
}  // namespace kiln::graph
