// Networks of floats of 16 bits.
#include <gtest/gtest.h>

#include "graph/passes/passes.h"
#include "tests/graph/passes/rows.h"

namespace kiln::graph {
namespace {

ValueId stored_narrow(Sketch &s, const std::vector<double> &numbers, Element type = Element::f16) {
    const Shape shape{static_cast<int64_t>(numbers.size())};
    return s.node(Elementwise{cast(operand(0), type), shape}, {s.constant(shape, numbers)});
}

TEST(WidenHalves, become_f32) {
    const std::vector<Row> rows{
        {"an input and an output",
         [](Sketch &s) { return Ids{s.elementwise("mul(x0,f16:3)", {s.input({4}, Element::f16)})}; },
         "%0 = elementwise f32(x0) shape=4 (x0)\n%1 = elementwise mul(x0,3) shape=4 (%0)\n"
         "%2 = elementwise f16(x0) shape=4 (%1)\n-> %2"},
        {"an input is converted once",
         [](Sketch &s) {
             const ValueId x = s.input({2, 2}, Element::bf16);
             return Ids{s.elementwise("add(x0,x1)", {x, s.transpose(x, {1, 0})})};
         },
         "%0 = elementwise f32(x0) shape=2x2 (x0)\n%1 = transpose permutation=1,0 (%0)\n"
         "%2 = elementwise add(x0,x1) shape=2x2 (%0, %1)\n%3 = elementwise bf16(x0) shape=2x2 (%2)\n-> %3"},
        {"halves in between, and their constants",
         [](Sketch &s) {
             const ValueId x = s.elementwise("f16(x0)", {s.input({3})});
             return Ids{s.elementwise("f32(max(x0,x1))", {x, stored_narrow(s, {0.5, 1, -1})})};
         },
         "%0 = elementwise x0 shape=3 (x0)\n%1 = elementwise x0 shape=3 (3)\n"
         "%2 = elementwise max(x0,x1) shape=3 (%0, %1)\n-> %2"},
        {"integers of halves",
         [](Sketch &s) {
             return Ids{
                 s.elementwise("i32(add(x0,f16(x1)))", {s.input({3}, Element::f16), s.integers({3}, {1, 2, 3})})};
         },
         "%0 = elementwise f32(x0) shape=3 (x0)\n%1 = elementwise i32(add(x0,f32(x1))) shape=3 (%0, 3)\n-> %1"},
        {"an input that is an output stays",
         [](Sketch &s) {
             const ValueId x = s.input({2}, Element::f16);
             return Ids{x, s.elementwise("f32(neg(x0))", {x})};
         },
         "%0 = elementwise f32(x0) shape=2 (x0)\n%1 = elementwise neg(x0) shape=2 (%0)\n-> x0 %1"},
        {"nothing of 16 bits", [](Sketch &s) { return Ids{s.elementwise("neg(x0)", {s.input({2})})}; },
         "%0 = elementwise neg(x0) shape=2 (x0)\n-> %0"},
    };
    expect_rows(rows, widen_halves, {.tolerance = 0x1p-7});
}

}  // namespace
}  // namespace kiln::graph
