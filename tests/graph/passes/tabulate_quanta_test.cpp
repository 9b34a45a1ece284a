// Functions of one stored number as tables.
#include <gtest/gtest.h>

#include "graph/passes/passes.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

Graph fused_and_tabulated(const Graph &graph) { return tabulate_quanta(multiply_quanta(fuse_elementwise(graph))); }

ValueId number(Sketch &s, Element type, const Shape &shape = {4, 256}) {
    return dequantize(s, {s.input(shape, type), 0.05, type == Element::u8 ? 128 : -3});
}

ValueId activation(Sketch &s, ValueId x) { return s.elementwise("mul(x0,sigmoid(x0))", {x}); }

TEST(TabulateQuanta, table) {
    const std::vector<Row> rows{
        {"an activation between stored numbers",
         [](Sketch &s) {
             return Ids{quantize(s, activation(s, number(s, Element::u8)), 0.03, 20, Element::u8).stored};
         },
         "%0 = gather axis=0 (256, x0)\n-> %0"},
        {"numbers with a sign are counted from the smallest on",
         [](Sketch &s) { return Ids{quantize(s, activation(s, number(s, Element::i8)), 0.03, 20).stored}; },
         "%0 = elementwise u8(sub(i32(x0),i32:-128)) shape=4x256 (x0)\n%1 = gather axis=0 (256, %0)\n-> %1"},
        {"a result of floats", [](Sketch &s) { return Ids{activation(s, number(s, Element::u8))}; },
         "%0 = gather axis=0 (256, x0)\n-> %0"},
        {"multiples, too, where their results are bytes",
         [](Sketch &s) { return Ids{quantize(s, number(s, Element::u8), 0.03, 20, Element::u8).stored}; },
         "%0 = gather axis=0 (256, x0)\n-> %0"},
        {"floats, which are looked up one by one",
         [](Sketch &s) { return Ids{s.elementwise("max(x0,0)", {number(s, Element::u8)})}; }, ""},
        {"what takes less than a lookup",
         [](Sketch &s) {
             return Ids{s.elementwise("u8(max(i32(x0),i32:3))", {s.input({4, 256}, Element::u8)})};
         },
         ""},
        {"few elements", [](Sketch &s) { return Ids{activation(s, number(s, Element::u8, {32}))}; }, ""},
        {"two stored numbers",
         [](Sketch &s) {
             return Ids{s.elementwise("mul(x0,sigmoid(x1))", {number(s, Element::u8), number(s, Element::u8)})};
         },
         ""},
        {"what is not stored",
         [](Sketch &s) {
             return Ids{activation(s, s.input({4, 256}))};
         },
         ""},
    };
    for (const Row &row : rows) {
        if (*row.after == 0) {
            SCOPED_TRACE(row.what);
            Sketch sketch(1);
            const Ids outputs = row.before(sketch);
            const Graph before = multiply_quanta(fuse_elementwise(std::move(sketch).finish(outputs)));
            EXPECT_EQ(told(tabulate_quanta(before)), told(before));
        } else {
            expect_rows({row}, fused_and_tabulated);
        }
    }
}

}  // namespace
}  // namespace kiln::graph
