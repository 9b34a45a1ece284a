// Integers that no tensor between kernels has, as floats.
#include <algorithm>
#include <functional>
#include <utility>

#include "network/emit.h"
#include "network/prepare.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;

ValueId quanta_of_16_bits(Sketch &s) {
    return s.elementwise("u16(min(max(round(mul(x0,1000)),0),65535))", {s.input({1, 2, 4})});
}

Pool maximum(Padding padding, int64_t stride = 1, int64_t dilation = 1) {
    return {.kind = Pool::Kind::maximum,
            .window = {2},
            .strides = {stride},
            .dilations = {dilation},
            .padding = {padding},
            .beyond = {0}};
}

TEST(FloatValues, MaximaOf16Bits) {
    struct Row {
        Pool pool;
        bool is_float;  // the maximum of padding alone is 0 in u16, and no such number as a float
    };
    const std::vector<Row> rows{
        {maximum({0, 0}), true},        {maximum({1, 1}), true},       {maximum({1, 0}, 2), true},
        {maximum({2, 0}), false},       {maximum({0, 2}), false},      {maximum({2, 0}, 1, 3), true},
        {maximum({1, 1}, 1, 5), false}, {maximum({1, 1}, 1, 4), true},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(to_text(Operator(row.pool)));
        Sketch s(test_seed());
        const ValueId y = s.elementwise("mul(f32(x0),0.5)", {s.node(row.pool, {quanta_of_16_bits(s)})});
        const Graph before = std::move(s).finish({y});
        const Graph after = store_as_floats(before);
        expect_equal_outputs(before, after, test_seed(), {.tolerance = 0});
        const auto pool =
            std::ranges::find_if(after.nodes, [](const Node &node) { return std::holds_alternative<Pool>(node.op); });
        ASSERT_NE(pool, after.nodes.end());
        EXPECT_EQ(after.values[static_cast<size_t>(pool->output)].form.type == Element::f32, row.is_float);
    }
}

// What an output of integers of 64 bits follows from: all that is known of it is that f32 has it.
TEST(FloatValues, IntegersOfKnownRange) {
    using Make = std::function<ValueId(Sketch &)>;
    const auto clipped = [](Sketch &s) { return s.elementwise("i64(min(max(mul(x0,9),-9),9))", {s.input({2, 3})}); };
    const auto sum = [](std::vector<int> axes) { return Reduce{Reduce::Kind::sum, std::move(axes)}; };
    const std::vector<std::pair<const char *, Make>> rows{
        {"a sum of conditions",
         [&](Sketch &s) {
             return s.node(sum({0, 1}), {s.elementwise("i64(less(x0,0))", {s.input({2, 3})})});
         }},
        {"a sum of integers", [&](Sketch &s) { return s.node(sum({1}), {clipped(s)}); }},
        {"a sum of bytes",
         [&](Sketch &s) {
             return s.node(sum({1}), {s.elementwise("i64(x0)", {s.input({2, 3}, Element::u8)})});
         }},
        // A sum of floats would have what the cast cuts off.
        {"a sum of what is also read as floats",
         [&](Sketch &s) {
             const ValueId x = s.node(Reduce{Reduce::Kind::maximum, {0}}, {s.input({4, 2, 3})});
             const ValueId bounded = s.reshape(s.elementwise("min(max(x0,-9),9)", {x}), {6});
             return s.node(sum({0}), {s.elementwise("i64(x0)", {bounded})});
         }},
        {"a sum of sums", [&](Sketch &s) { return s.node(sum({0}), {s.node(sum({1}), {clipped(s)})}); }},
        {"a maximum",
         [&](Sketch &s) {
             return s.node(Reduce{Reduce::Kind::maximum, {1}}, {clipped(s)});
         }},
        {"elements by computed indices",
         [&](Sketch &s) {
             const ValueId places = s.elementwise("i32(min(max(x0,0),1))", {s.input({4})});
             return s.node(Gather{0}, {clipped(s), places});
         }},
        {"a sum and arithmetic behind it",
         [&](Sketch &s) { return s.elementwise("div(add(x0,i64:5),i64:2)", {s.node(sum({1}), {clipped(s)})}); }},
    };
    for (const auto &[what, make] : rows) {
        SCOPED_TRACE(what);
        Sketch s(test_seed());
        const ValueId y = make(s);
        const Graph before = std::move(s).finish({y});
        expect_equal_outputs(before, store_as_floats(before), test_seed());
        const auto program = emit(before);
        EXPECT_TRUE(program) << program.error().message;
    }
}

// Any number but 0 is true, also a negative one.
TEST(FloatValues, ExtremesOfConditions) {
    for (const auto kind : {Reduce::Kind::maximum, Reduce::Kind::minimum}) {
        Sketch s(test_seed());
        const ValueId y = s.node(Reduce{kind, {1}}, {s.elementwise("bool(round(x0))", {s.input({40, 2})})});
        const Graph before = std::move(s).finish({y});
        expect_equal_outputs(before, store_as_floats(before), test_seed());
    }
}

// f32 has not the largest integer of 32 bits.
TEST(FloatValues, FillsOfPads) {
    for (const double fill : {2147483647.0, 16777217.0, -5.0, 9e15}) {
        Sketch s(test_seed());
        const Graph before = std::move(s).finish({s.pad(s.elementwise("i64(x0)", {s.input({4})}), 0, 1, 1, fill)});
        expect_equal_outputs(before, store_as_floats(before), test_seed());
        const auto program = emit(before);
        EXPECT_TRUE(program) << program.error().message;
    }
}

// Moves are of floats, so a condition or an integer of 64 bits behind a convolution is written in the order of the output.
TEST(FloatValues, OutputsOfOtherTypesAreNotMoved) {
    for (const char *expression : {"less(x0,0.5)", "i64(mul(x0,100))", "equal(i64(x0),i64:1)"}) {
        SCOPED_TRACE(expression);
        Sketch s(test_seed());
        const ValueId x = s.convolution({s.input({1, 4, 6, 5})}, 8, {3, 3});
        const std::vector<ValueId> outputs{s.elementwise(expression, {x}), x};
        const auto program = emit(std::move(s).finish(outputs));
        EXPECT_TRUE(program) << program.error().message;
    }
}

}  // namespace
}  // namespace kiln::network
