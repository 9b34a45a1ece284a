// At which places alterations apply, and what is wrong with patches.
#include <gtest/gtest.h>

#include <functional>

#include "network/alter/alter.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/network/alter/named_alteration.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;
using StepKind = EpilogueStep::Kind;

TEST(Place, AveragesThatCountPaddingStayBehindABias) {
    const struct {
        bool has_bias, counts_padding, is_padded;
        Pool::Kind kind;
        size_t patches;
    } cases[] = {
        {false, false, false, Pool::Kind::average, 1}, {true, false, false, Pool::Kind::average, 1},
        {true, true, false, Pool::Kind::average, 1},   {false, true, true, Pool::Kind::average, 1},
        {true, false, true, Pool::Kind::average, 1},   {true, true, true, Pool::Kind::average, 0},
        {false, false, false, Pool::Kind::maximum, 0},
    };
    for (const auto &c : cases) {
        Sketch s(1);
        Convolution op;
        Ids inputs{s.input({1, 4, 8, 8})};
        if (c.has_bias) op.epilogue = {{StepKind::bias}}, inputs.push_back(s.random({6}));
        const ValueId y = s.convolution(inputs, 6, {1, 1}, op);
        const Padding padding = c.is_padded ? Padding{1, 1} : Padding{};
        const Pool pool{c.kind, {3, 3}, {2, 2}, {1, 1}, {padding, padding}, {0, 0}, c.counts_padding};
        const Graph graph = std::move(s).finish(Ids{s.node(pool, {y})});
        EXPECT_EQ(named("pool_before_convolution").at(GraphIndex(graph), graph.nodes.back())->size(), c.patches)
            << c.has_bias << c.counts_padding << c.is_padded;
    }
}

TEST(Place, PrologueOnlyWhereConvolutionsAloneReadIt) {
    const auto normalized = [](Sketch &s, ValueId x) {
        return s.elementwise("max(add(mul(x0,x1),x2),0)", {x, s.random({16, 1, 1}), s.random({16, 1, 1})});
    };
    const struct {
        const char *what;
        std::function<Ids(Sketch &, ValueId)> make;
        size_t patches;
    } cases[] = {
        {"one reader",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({normalized(s, x)}, 8, {1, 1})};
         },
         1},
        {"two readers",
         [&](Sketch &s, ValueId x) {
             const ValueId y = normalized(s, x);
             return Ids{s.convolution({y}, 8, {1, 1}), s.convolution({y}, 8, {3, 3})};
         },
         1},
        {"an output",
         [&](Sketch &s, ValueId x) {
             const ValueId y = normalized(s, x);
             return Ids{s.convolution({y}, 8, {1, 1}), y};
         },
         0},
        {"a sigmoid in front of one pixel",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({s.elementwise("mul(x0,sigmoid(x0))", {x})}, 8, {1, 1})};
         },
         1},
        {"a sigmoid in front of a window",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({s.elementwise("mul(x0,sigmoid(x0))", {x})}, 8, {3, 3})};
         },
         0},
        {"a depthwise reader",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({normalized(s, x)}, 16, {3, 3}, {.groups = 16})};
         },
         0},
        {"an addend, too",
         [&](Sketch &s, ValueId x) {
             const ValueId y = normalized(s, x);
             return Ids{s.convolution({y, y}, 16, {1, 1}, {.epilogue = {{StepKind::add}}})};
         },
         0},
        {"a number for each pixel",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({s.elementwise("mul(x0,x1)", {x, s.random({9, 9})})}, 8, {1, 1})};
         },
         0},
        {"a bound for infinities",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({s.elementwise("min(max(x0,0),3.4028234663852886e38)", {x})}, 8, {1, 1})};
         },
         0},
        {"two tensors",
         [&](Sketch &s, ValueId x) {
             return Ids{s.convolution({s.elementwise("add(x0,x1)", {x, s.input({1, 16, 9, 9})})}, 8, {1, 1})};
         },
         0},
    };
    for (const auto &c : cases) {
        Sketch s(1);
        const ValueId x = s.input({1, 16, 9, 9});
        const Ids results = c.make(s, x);
        const Graph graph = std::move(s).finish(results);
        size_t patches = 0;
        for (const Node &node : graph.nodes) patches += named("fuse_prologues").at(GraphIndex(graph), node)->size();
        EXPECT_EQ(patches, c.patches) << c.what;
    }
}

TEST(Place, ConvolutionsAreJoinedWhereOperandsAreForChannels) {
    const struct {
        const char *what;
        int64_t images, channels;
        std::function<Ids(Sketch &)> operands;
        std::vector<EpilogueStep> epilogue;
        size_t patches;
    } cases[] = {
        {"no operands", 1, 1, [](Sketch &) { return Ids{}; }, {{StepKind::relu}}, 1},
        {"a bias", 1, 2, [](Sketch &s) { return Ids{s.random({2})}; }, {{StepKind::bias}}, 1},
        {"a bias of one channel", 1, 1, [](Sketch &s) { return Ids{s.random({1})}; }, {{StepKind::bias}}, 1},
        {"a tensor is added to one channel",
         1,
         1,
         [](Sketch &s) {
             return Ids{s.random({1, 1, 16, 16})};
         },
         {{StepKind::add}},
         0},
        {"a tensor is added to as many channels as there are images",
         2,
         2,
         [](Sketch &s) {
             return Ids{s.random({2, 2, 16, 16})};
         },
         {{StepKind::add}},
         0},
        {"a bias, and a tensor is added",
         1,
         1,
         [](Sketch &s) {
             const ValueId bias = s.random({1});
             return Ids{bias, s.random({1, 1, 16, 16})};
         },
         {{StepKind::bias}, {StepKind::add}},
         0},
    };
    for (const auto &c : cases) {
        Sketch s(1);
        const ValueId x = s.input({c.images, 8, 16, 16});
        Ids results;
        for (int i = 0; i < 2; i++) {
            Ids inputs{x};
            for (const ValueId id : c.operands(s)) inputs.push_back(id);
            results.push_back(s.convolution(inputs, c.channels, {1, 1}, {.epilogue = c.epilogue}));
        }
        const Graph graph = std::move(s).finish(results);
        const auto patches = named("side_by_side").at(GraphIndex(graph), graph.nodes[0]);
        ASSERT_TRUE(patches) << c.what;
        EXPECT_EQ(patches->size(), c.patches) << c.what;
        for (const Patch &patch : *patches) EXPECT_TRUE(apply(graph, patch)) << c.what;
        const auto altered = improve(graph, {});
        ASSERT_TRUE(altered) << c.what;
        expect_equal_outputs(graph, altered->graph, 1);
    }
}

TEST(Patch, IsRefusedWhereItIsWrong) {
    Sketch s(1);
    const ValueId x = s.input({2, 3});
    const ValueId y = s.elementwise("neg(x0)", {x}), z = s.elementwise("abs(x0)", {y});
    const Graph graph = std::move(s).finish(Ids{z});
    const Elementwise same{operand(0), {2, 3}};
    const struct {
        std::string what;
        std::function<void(Patch &)> make;
    } cases[] = {
        {"replaces nothing", [](Patch &) {}},
        {"reads value 99, which is unknown", [&](Patch &p) { p.replace(y, p.node(same, {99})); }},
        {"reads value -5, which is unknown", [&](Patch &p) { p.replace(y, p.node(same, {-5})); }},
        {"is replaced by value 99, which is unknown", [&](Patch &p) { p.replace(y, 99); }},
        {"replaces value 99, which no node of the graph computes", [&](Patch &p) { p.replace(99, y); }},
        {"replaces value 0, which no node of the graph computes", [&](Patch &p) { p.replace(x, y); }},
        {"is replaced twice", [&](Patch &p) { p.replace(y, x), p.replace(y, x); }},
        {"is f32 2x3, but what replaces it is f32 3x2",
         [&](Patch &p) {
             p.replace(y, p.node(Transpose{{1, 0}}, {x}));
         }},
        {"a new transpose: ",
         [&](Patch &p) {
             p.replace(y, p.node(Transpose{{1, 1}}, {x}));
         }},
        {"depends on itself", [&](Patch &p) { p.replace(y, p.node(same, {z})); }},
        {"depends on itself", [&](Patch &p) { p.replace(y, z); }},
    };
    for (const auto &c : cases) {
        Patch patch(graph);
        c.make(patch);
        const auto after = apply(graph, patch);
        ASSERT_FALSE(after) << c.what;
        EXPECT_NE(after.error().message.find(c.what), std::string::npos) << after.error().message;
    }
    Patch right(graph);
    right.replace(z, y);
    const auto after = apply(graph, right);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->nodes.size(), 1u);
}

}  // namespace
}  // namespace kiln::network
