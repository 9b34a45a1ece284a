// What of a network stands at its inputs, and the two programs that it becomes. That they compute what the network does is in
// emit_test.cpp.
#include "network/input_split.h"

#include <gtest/gtest.h>

#include <functional>

#include "graph/passes/passes.h"
#include "network/emit.h"
#include "tests/graph/passes/sketch.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;

std::vector<std::string> told(const std::vector<Port> &ports) {
    std::vector<std::string> texts;
    for (const Port &port : ports) texts.push_back(port.name + " " + to_text(port.form.shape));
    return texts;
}

TEST(InputSplit, TakesWhatNeedsInputsAloneAndAddsUpNothing) {
    const struct {
        const char *what;
        std::function<Ids(Sketch &)> graph;  // answers the outputs
        std::vector<bool> is_at_input;       // by node
    } cases[] = {
        {"a pad and arithmetic, not the convolution behind them",
         [](Sketch &s) {
             const ValueId x = s.elementwise("mul(x0,2)", {s.pad(s.input({1, 3, 8, 8}), 2, 1, 1)});
             return Ids{s.convolution({x}, 4, {3, 3})};
         },
         {true, true, false}},
        {"nothing behind a sum",
         [](Sketch &s) {
             const ValueId x = s.convolution({s.input({1, 3, 8, 8})}, 4, {3, 3});
             return Ids{s.convolution({s.pad(x, 2, 1, 1)}, 4, {3, 3})};
         },
         {false, false, false}},
        {"nothing that also reads a later value",
         [](Sketch &s) {
             const ValueId x = s.input({1, 4, 8, 8});
             const ValueId y = s.convolution({x}, 4, {1, 1});
             return Ids{s.convolution({s.elementwise("add(x0,x1)", {x, y})}, 4, {1, 1})};
         },
         {false, false, false}},
        {"what joins two inputs",
         [](Sketch &s) {
             const ValueId x = s.node(Concat{1}, {s.input({1, 2, 8, 8}), s.input({1, 2, 8, 8})});
             return Ids{s.convolution({x}, 4, {1, 1})};
         },
         {true, false}},
        {"no output of the network",
         [](Sketch &s) {
             const ValueId x = s.elementwise("mul(x0,2)", {s.input({1, 4, 8, 8})});
             return Ids{x, s.convolution({x}, 4, {1, 1})};
         },
         {false, false}},
    };
    for (const auto &c : cases) {
        Sketch s(1);
        const Ids outputs = c.graph(s);
        EXPECT_EQ(nodes_at_input(std::move(s).finish(outputs)), c.is_at_input) << c.what;
    }
}

TEST(InputSplit, PortsMeetAndLieAsTheFirstKernelsReadThem) {
    Sketch s(1);
    const ValueId x = s.input({1, 3, 8, 8}), y = s.input({1, 4, 8, 8});
    const std::string first = s.value(x).name, second = s.value(y).name;
    const ValueId padded = s.pad(x, 2, 1, 1);
    const ValueId sum = s.elementwise("add(x0,x1)", {s.convolution({padded}, 4, {3, 1}), y});
    const auto split = emit_split(std::move(s).finish(Ids{sum}), {.is_input_prepared = true});
    ASSERT_TRUE(split) << split.error().message;
    EXPECT_EQ(split->preparation.outputs, split->network.inputs);
    EXPECT_EQ(told(split->preparation.inputs), (std::vector<std::string>{first + " 1x3x8x8", second + " 1x4x8x8"}));
    const auto ports = told(split->network.inputs);
    ASSERT_EQ(ports.size(), 2u);
    EXPECT_EQ(ports[0], first + "_prepared 1x10x8x3");
}

// Two prepared inputs of one input have names of their own, and an input that is called like one is no clash.
TEST(InputSplit, NamesDiffer) {
    Sketch s(1);
    const ValueId x = s.input({1, 4, 8, 8});
    const ValueId a = s.convolution({s.elementwise("mul(x0,2)", {x})}, 4, {1, 1});
    const ValueId b = s.convolution({s.pad(x, 2, 1, 1)}, 4, {3, 1});
    const auto split = emit_split(std::move(s).finish(Ids{a, b}), {.is_input_prepared = true});
    ASSERT_TRUE(split) << split.error().message;
    ASSERT_EQ(split->network.inputs.size(), 2u);
    EXPECT_NE(split->network.inputs[0].name, split->network.inputs[1].name);
}

}  // namespace
}  // namespace kiln::network
