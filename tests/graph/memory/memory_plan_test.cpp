// Plans of small graphs as tables, of random ones as a property, and the checker on plans that are wrong.
#include "graph/memory/memory_plan.h"

#include "graph/memory/placement.h"
#include "graph/passes/passes.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::graph {
namespace {

MemoryNeeds needs_of(const Graph &graph) { return {row_major_storages(graph), {}}; }

// "input0 output0 +0 +256": where each value lies.
std::string places(const MemoryPlan &plan) {
    std::string text;
    for (const Place &place : plan.places) {
        text += text.empty() ? "" : " ";
        if (place.memory == Place::Memory::input) text += "input" + std::to_string(place.index);
        if (place.memory == Place::Memory::output) text += "output" + std::to_string(place.index);
        if (place.memory == Place::Memory::constant) text += "constant";
        if (place.offset > 0 || place.memory == Place::Memory::workspace) text += "+" + std::to_string(place.offset);
    }
    return text;
}

const Convolution adding{.padding = {{1, 1}, {1, 1}}, .epilogue = {EpilogueStep{EpilogueStep::Kind::add}}};

struct Row {
    const char *what;
    std::function<std::vector<ValueId>(Sketch &)> graph;
    const char *places;
    int64_t workspace;
};

TEST(MemoryPlan, table) {
    using Ids = std::vector<ValueId>;
    const Row rows[] = {
        {"element-wise nodes write over what is not needed any more",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({16})}), b = s.elementwise("neg(x0)", {a});
             return Ids{s.node(Reduce{Reduce::Kind::sum, {0}}, {b})};
         },
         "input0 +0 +0 output0", 64},
        {"but not over what is",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({16})}), b = s.elementwise("neg(x0)", {a});
             return Ids{s.node(MatrixProduct{}, {s.reshape(a, {4, 4}), s.reshape(b, {4, 4})})};
         },
         "input0 +0 +64 +0 +64 output0", 128},
        {"nor over an input, nor over what is repeated",
         [](Sketch &s) {
             const auto x = s.input({16}), a = s.elementwise("exp(x0)", {x});
             const auto b = s.elementwise("add(x0,x1)", {a, s.input({2, 16})});
             return Ids{s.node(Reduce{Reduce::Kind::sum, {0}}, {b})};
         },
         "input0 +128 input1 +0 output0", 192},
        {"convolutions write over what they add",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4, 4}), a = s.elementwise("exp(x0)", {x});
             const auto b = s.elementwise("neg(x0)", {s.convolution({x, a}, 2, {3, 3}, adding)});
             return Ids{s.node(Reduce{Reduce::Kind::sum, {1}}, {b})};
         },
         "input0 +0 constant +0 +0 output0", 128},
        {"but not where it is their input, too",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({1, 2, 4, 4})}),
                        b = s.convolution({a, a}, 2, {3, 3}, adding);
             return Ids{s.node(Reduce{Reduce::Kind::sum, {1}}, {b})};
         },
         "input0 +0 constant +128 output0", 256},
        {"nor where it is read later",
         [](Sketch &s) {
             const auto x = s.input({1, 2, 4, 4}), a = s.elementwise("exp(x0)", {x}),
                        b = s.convolution({x, a}, 2, {3, 3}, adding);
             return Ids{s.node(Reduce{Reduce::Kind::sum, {1}}, {s.node(Concat{1}, {b, s.pad(a, 1, 1, 0)})})};
         },
         "input0 +320 constant +0 +128 +0 output0", 448},
        {"a chain into an output lies in its memory",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({16})});
             return Ids{s.reshape(s.elementwise("neg(x0)", {a}), {4, 4})};
         },
         "input0 output0 output0 output0", 0},
        {"parts of a concatenation are computed in it",
         [](Sketch &s) {
             const auto x = s.input({16}), a = s.elementwise("exp(x0)", {x}), b = s.elementwise("neg(x0)", {x});
             return Ids{s.node(Reduce{Reduce::Kind::sum, {0}}, {s.node(Concat{0}, {a, b, a, x})})};
         },
         "input0 +0 +64 +0 output0", 256},
        {"but are copied where the whole would be there for too long",
         [](Sketch &s) {
             const auto x = s.input({16}), a = s.pad(x, 0, 1, -1);
             const auto wide = s.pad(s.pad(a, 0, 1600, 0), 0, 1, -1), b = s.pad(wide, 0, 1, -1);
             return Ids{s.node(Reduce{Reduce::Kind::sum, {0}}, {s.node(Concat{0}, {a, b})})};
         },
         "input0 +0 +64 +6528 +64 +6528 output0", 13056},
        {"a part of a value is read where it lies",
         [](Sketch &s) {
             const auto a = s.elementwise("exp(x0)", {s.input({16})});
             const auto p = s.pad(a, 0, -4, 0), q = s.pad(a, 0, 0, -12);
             return Ids{s.node(Reduce{Reduce::Kind::sum, {0}}, {p}), s.node(Reduce{Reduce::Kind::sum, {0}}, {q})};
         },
         "input0 +0 +16 +0 output0 output1", 64},
        {"outputs that are inputs, constants or each other are copied",
         [](Sketch &s) {
             const auto x = s.input({2}), y = s.elementwise("exp(x0)", {x});
             return Ids{x, s.random({2}), y, y, s.reshape(y, {1, 2}), s.reshape(x, {2, 1})};
         },
         "input0 output2 constant output4 output5", 0},
    };
    for (const Row &row : rows) {
        SCOPED_TRACE(row.what);
        Sketch sketch;
        const auto outputs = row.graph(sketch);
        const Graph graph = std::move(sketch).finish(outputs);
        const MemoryNeeds needs = needs_of(graph);
        const MemoryPlan plan = plan_memory(graph, needs);
        EXPECT_EQ(places(plan), row.places);
        EXPECT_EQ(plan.workspace, row.workspace);
        const Status status = check_plan(graph, needs, plan);
        EXPECT_TRUE(status) << status.error().message;
    }
}

// Branches that are computed one after the other need less than side by side.
TEST(MemoryPlan, takes_a_better_order) {
    Sketch s;
    const auto x = s.input({64, 16});
    std::vector<ValueId> wide, narrow;
    for (int i = 0; i < 4; i++) wide.push_back(s.pad(x, 1, i + 1, 0));
    for (ValueId id : wide) narrow.push_back(s.node(Reduce{Reduce::Kind::sum, {1}}, {id}));
    const Graph graph = std::move(s).finish({s.elementwise("add(add(x0,x1),add(x2,x3))", narrow)});
    const MemoryPlan plan = plan_memory(graph, needs_of(graph));
    EXPECT_EQ(plan.order, (std::vector{0, 4, 1, 5, 2, 6, 3, 7, 8}));
    EXPECT_TRUE(check_plan(graph, needs_of(graph), plan));
}

TEST(MemoryPlan, gives_nodes_scratch) {
    Sketch s;
    const auto a = s.pad(s.input({16}), 0, 1, 0), b = s.pad(a, 0, 1, 0);
    const Graph graph = std::move(s).finish({s.node(Reduce{Reduce::Kind::sum, {0}}, {b})});
    MemoryNeeds needs = needs_of(graph);
    needs.scratch = {0, 100, 0};
    MemoryPlan plan = plan_memory(graph, needs);
    EXPECT_EQ(plan.workspace, 128 + 128 + 128);
    EXPECT_TRUE(check_plan(graph, needs, plan));
    plan.scratch[1] = plan.places[a].offset;
    EXPECT_FALSE(check_plan(graph, needs, plan));
}

TEST(CheckPlan, finds_what_is_wrong) {
    Sketch s;
    const auto x = s.input({16}), a = s.pad(x, 0, 1, -1), b = s.pad(a, 0, 1, -1);
    const auto c = s.node(Concat{0}, {a, b});
    const Graph graph = std::move(s).finish({s.node(Reduce{Reduce::Kind::sum, {0}}, {c})});
    const MemoryNeeds needs = needs_of(graph);
    const MemoryPlan good = plan_memory(graph, needs);
    ASSERT_TRUE(check_plan(graph, needs, good));
    using Change = std::function<void(MemoryPlan &)>;
    const std::pair<const char *, Change> changes[] = {
        {"is read before it is computed", [](MemoryPlan &p) { std::swap(p.order[0], p.order[1]); }},
        {"lies on an input", [&](MemoryPlan &p) { p.places[b].offset = p.places[a].offset + 4; }},
        {"does not lie inside", [&](MemoryPlan &p) { p.places[b].offset = p.workspace - 4; }},
        {"does not lie inside", [&](MemoryPlan &p) { p.places[b].offset = -64; }},
        {"lies where nothing may be written", [&](MemoryPlan &p) { p.places[b] = p.places[x]; }},
        {"lies on an input", [&](MemoryPlan &p) { p.places[graph.outputs[0].value] = p.places[c]; }},
        {"lies elsewhere",
         [&](MemoryPlan &p) {
             p.places[graph.outputs[0].value] = {Place::Memory::workspace, 0, p.workspace};
             p.workspace += 64;
         }},
        {"a plan of another graph", [](MemoryPlan &p) { p.places.pop_back(); }},
    };
    for (const auto &[part, change] : changes) {
        MemoryPlan plan = good;
        change(plan);
        const Status status = check_plan(graph, needs, plan);
        ASSERT_FALSE(status) << part;
        EXPECT_NE(status.error().message.find(part), std::string::npos) << status.error().message;
    }
}

TEST(Placement, keeps_apart_what_is_alive_together) {
    // One that lives throughout, and pairs whose sizes grow: a first fit in their order leaves holes.
    std::vector<Buffer> buffers{{100, 0, 20}};
    for (int i = 0; i < 10; i++) buffers.push_back({64 * (i + 1), 2 * i, 2 * i + 2});
    const int64_t bound = largest_sum(buffers);
    const Placement placement = place(buffers, bound);
    EXPECT_LE(placement.bytes, bound * 11 / 10);
    for (size_t a = 0; a < buffers.size(); a++) {
        for (size_t b = 0; b < a; b++) {
            const bool meet = buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last;
            const bool apart = placement.offsets[a] + aligned(buffers[a].bytes) <= placement.offsets[b] ||
                               placement.offsets[b] + aligned(buffers[b].bytes) <= placement.offsets[a];
            EXPECT_TRUE(apart || !meet) << a << " and " << b;
        }
    }
}

// Every image in the order of channels last, everything else in row-major order.
MemoryNeeds channels_last(const Graph &graph) {
    MemoryNeeds needs = needs_of(graph);
    for (size_t id = 0; id < graph.values.size(); id++) {
        if (graph.values[id].form.shape.size() == 4) needs.storages[id].order = {{0, 2, 3, 1}};
    }
    return needs;
}

// Every image whose channels are even in blocks of two, everything else in row-major order.
MemoryNeeds in_blocks(const Graph &graph) {
    MemoryNeeds needs = needs_of(graph);
    for (size_t id = 0; id < graph.values.size(); id++) {
        const Shape &shape = graph.values[id].form.shape;
        if (shape.size() == 4 && shape[1] % 2 == 0) needs.storages[id].order = {{0, 1, 2, 3, 1}, 2};
    }
    return needs;
}

TEST(MemoryPlan, is_right_on_random_graphs) {
    std::vector<uint64_t> seeds{849712051000139, 1019000020, 1067000152, 1130000208, 1149000164};  // had large holes
    for (uint64_t i = 0; i < 300; i++) seeds.push_back(test_seed() * 1000000 + i);
    for (const uint64_t seed : seeds) {
        SCOPED_TRACE(seed);
        const uint64_t i = seed % 1000000;
        Graph graph = random_graph(seed, {.nodes = 40});
        if (i % 2) graph = run_passes(graph).value();
        for (MemoryNeeds needs : {needs_of(graph), channels_last(graph), in_blocks(graph)}) {
            if (i % 3 == 0) needs.scratch.assign(graph.nodes.size(), 64 * static_cast<int64_t>(i % 5));
            const MemoryPlan plan = plan_memory(graph, needs);
            const Status status = check_plan(graph, needs, plan);
            ASSERT_TRUE(status) << status.error().message << "\n" << told(graph) << "\n" << places(plan);
            EXPECT_LE(static_cast<double>(plan.workspace), 1.1 * static_cast<double>(plan.lower_bound));
        }
    }
}

}  // namespace
}  // namespace kiln::graph
