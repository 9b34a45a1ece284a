#include "graph/passes/quantization/stored_edges.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "tests/graph/passes/quantized_graphs.h"

namespace kiln::graph {
namespace {

struct EdgeRow {
    const char *what;
    std::function<std::vector<ValueId>(Sketch &)> outputs;
    std::vector<std::optional<UniformQuantization>> inputs, made;
};

const UniformQuantization half{0.5, 3}, quarter{0.25, 0};

TEST(StoredEdges, table) {
    const EdgeRow rows[] = {
        {"both ends",
         [](Sketch &s) {
             const auto x = dequantize(s, quantize(s, s.input({2, 3}), 0.5, 3));
             return std::vector{dequantize(s, quantize(s, s.elementwise("neg(x0)", {x}), 0.25))};
         },
         {half},
         {quarter}},
        {"two that quantize alike are one input",
         [](Sketch &s) {
             const auto x = s.input({4});
             const auto a = dequantize(s, quantize(s, x, 0.5, 3)), b = dequantize(s, quantize(s, x, 0.5, 3));
             return std::vector{s.elementwise("add(x0,x1)", {a, b})};
         },
         {half},
         {{}}},
        {"two that quantize differently leave the floats",
         [](Sketch &s) {
             const auto x = s.input({4});
             const auto a = dequantize(s, quantize(s, x, 0.5, 3)), b = dequantize(s, quantize(s, x, 0.25));
             return std::vector{s.elementwise("add(x0,x1)", {a, b})};
         },
         {{}},
         {{}}},
        {"so does another reader",
         [](Sketch &s) {
             const auto x = s.input({4});
             return std::vector{s.elementwise("add(x0,x1)", {dequantize(s, quantize(s, x, 0.5, 3)), x})};
         },
         {{}},
         {{}}},
        {"and an input that is an output",
         [](Sketch &s) {
             const auto x = s.input({4});
             return std::vector{quantize(s, x, 0.5, 3).stored, x};
         },
         {{}},
         {{}, {}}},
        {"stored numbers stay",
         [](Sketch &s) { return std::vector{s.elementwise("neg(x0)", {s.input({4}, Element::i8)})}; },
         {{}},
         {{}}},
        {"an output that others read, too",
         [](Sketch &s) {
             const auto y = dequantize(s, {s.input({4}, Element::u8), 0.25});
             return std::vector{y, s.elementwise("neg(x0)", {y})};
         },
         {{}},
         {quarter, {}}},
    };
    for (const EdgeRow &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch;
        const std::vector<ValueId> outputs = row.outputs(sketch);
        const Graph before = std::move(sketch).finish(outputs);
        const StoredEdges edges = stored_edges(before);
        EXPECT_TRUE(validate(edges.graph));
        EXPECT_EQ(edges.inputs, row.inputs);
        EXPECT_EQ(edges.outputs, row.made);
        // Each end has the type of what is stored where somebody else converts it, else its own.
        for (size_t i = 0; i < edges.inputs.size(); i++) {
            const Element now = edges.graph.values[edges.graph.inputs[i]].form.type,
                          was = before.values[before.inputs[i]].form.type;
            EXPECT_EQ(now, edges.inputs[i] ? Element::i8 : was);
        }
        for (size_t i = 0; i < edges.outputs.size(); i++) {
            const Element now = edges.graph.values[edges.graph.outputs[i].value].form.type;
            EXPECT_EQ(edges.outputs[i].has_value(), now != before.values[before.outputs[i].value].form.type);
            EXPECT_EQ(edges.graph.outputs[i].name, before.outputs[i].name);
        }
    }
}

}  // namespace
}  // namespace kiln::graph
