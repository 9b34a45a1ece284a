// What is known of the numbers of values that nodes compute.
#include "graph/rewriting/value_range.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/graph/passes/sketch.h"

namespace kiln::graph {
namespace {

std::optional<ValueRange> range_of_result(Sketch sketch, ValueId id) {
    const std::string name = sketch.value(id).name;
    const Graph graph = std::move(sketch).finish({id});
    std::optional<ValueRange> range;
    // The whole graph stands in the new one when its last node is visited.
    rewrite_once(graph, [&](Rewriting &now, const Node &node) -> std::optional<ValueId> {
        const auto *op = std::get_if<Elementwise>(&node.op);
        if (op && graph.values[node.output].name == name) range = range_of(now, op->expression, node.inputs);
        return {};
    });
    return range;
}

TEST(ValueRange, FollowsFromConstantsAndConditions) {
    const struct {
        const char *expression;  // of a float x0, integers x1 from -2 to 7, and conditions x2
        std::optional<ValueRange> range;
    } cases[] = {
        {"x1", ValueRange{-2, 7}},
        {"x0", {}},
        {"i64(x0)", {}},
        {"i64(less(x0,0))", ValueRange{0, 1}},
        {"select(x2,x1,i64:9)", ValueRange{-2, 9}},
        {"mul(x1,i64:-3)", ValueRange{-21, 6}},
        {"sub(i64:1,x1)", ValueRange{-6, 3}},
        {"abs(x1)", ValueRange{0, 7}},
        {"min(x1,i64:3)", ValueRange{-2, 3}},
        {"i64(floor(f32(x2)))", ValueRange{0, 1}},
        {"i8(mul(x1,i64:100))", ValueRange{-128, 127}},
        {"i64(exp(f32(x1)))", {}},
        // Bounds are enough, whatever lies between them.
        {"i64(min(max(x0,-9),9.5))", ValueRange{-9, 9}},
        {"i64(min(max(x0,5),9))", ValueRange{0, 9}},  // 0 of a NaN
        {"min(max(i64(x0),i64:-3),i64:7)", ValueRange{-3, 7}},
        {"i64(max(x0,5))", {}},
        {"div(x1,i64:-2)", ValueRange{-3, 1}},
        {"div(i64:9,x1)", {}},
        {"mod(i64(x0),i64:5)", ValueRange{0, 5}},
        {"mod(x1,i64:-5)", ValueRange{-5, 0}},
        {"pow(x1,i64:2)", ValueRange{-49, 49}},
        {"pow(x1,i64:99)", {}},
        {"i8(div(i8(x1),i8(x1)))", ValueRange{-128, 127}},
        // What a type cannot hold wraps around.
        {"i64(u8(x1))", ValueRange{0, 255}},
        {"i64(u32(x1))", ValueRange{0, 4294967295.0}},
        {"i64(u64(x1))", {}},
        {"i64(add(i8(x1),i8:125))", ValueRange{-128, 127}},
        {"i64(add(i8(x1),i8:100))", ValueRange{98, 107}},
    };
    for (const auto &c : cases) {
        Sketch s;
        const ValueId x = s.input({3}), integers = s.integers({3}, {-2, 0, 7}, Element::i64);
        const ValueId condition = s.elementwise("less(x0,0)", {x});
        const ValueId result = s.elementwise(c.expression, {x, integers, condition});
        const auto range = range_of_result(std::move(s), result);
        EXPECT_TRUE(range == c.range) << c.expression << ": " << (range ? range->lo : 0) << " to "
                                      << (range ? range->hi : 0);
    }
}

TEST(ValueRange, OfSumsAndWhatMoves) {
    using Make = std::function<ValueId(Sketch &, ValueId)>;
    const struct {
        const char *what;
        Make make;  // of integers from -2 to 7, 2x3 of them
        std::optional<ValueRange> range;
    } cases[] = {
        {"a sum",
         [](Sketch &s, ValueId x) {
             return s.node(Reduce{Reduce::Kind::sum, {0, 1}}, {x});
         },
         ValueRange{-12, 42}},
        {"a sum along one axis",
         [](Sketch &s, ValueId x) {
             return s.node(Reduce{Reduce::Kind::sum, {1}}, {x});
         },
         ValueRange{-6, 21}},
        {"a maximum",
         [](Sketch &s, ValueId x) {
             return s.node(Reduce{Reduce::Kind::maximum, {1}}, {x});
         },
         ValueRange{-2, 7}},
        {"elements by computed indices",
         [](Sketch &s, ValueId x) {
             return s.node(Gather{0}, {s.elementwise("add(x0,i64:3)", {x}), s.input({2}, Element::i32)});
         },
         ValueRange{0, 10}},
        {"a product",
         [](Sketch &s, ValueId x) {
             return s.node(Reduce{Reduce::Kind::product, {1}}, {x});
         },
         {}},
    };
    for (const auto &c : cases) {
        Sketch s;
        const ValueId integers = s.integers({2, 3}, {-2, 0, 7, 1, 2, 3}, Element::i64);
        const ValueId condition = s.elementwise("less(x0,0)", {s.input({2, 3})});
        const ValueId x = s.elementwise("select(x1,x0,i64:0)", {integers, condition});
        const ValueId result = s.elementwise("x0", {c.make(s, x)});
        const auto range = range_of_result(std::move(s), result);
        EXPECT_TRUE(range == c.range) << c.what << ": " << (range ? range->lo : 0) << " to " << (range ? range->hi : 0);
    }
}

// Each value is looked at once, however many ways lead to it.
TEST(ValueRange, ManyWaysToOneValueTakeNoTime) {
    Sketch s;
    ValueId x = s.elementwise("i64(less(x0,0))", {s.input({3})});
    for (int i = 0; i < 60; i++) {
        const ValueId a = s.elementwise("min(x0,i64:4)", {x}), b = s.elementwise("max(x0,i64:-4)", {x});
        x = s.elementwise("max(x0,x1)", {a, b});
    }
    range_of_result(std::move(s), x);
}

}  // namespace
}  // namespace kiln::graph
