// Which alterations a network gets, by the times that there are.
#include "network/alter/alter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "graph/passes/passes.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/network/alter/named_alteration.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;
using StepKind = EpilogueStep::Kind;

TEST(Improve, KeepsValuesWithAnythingSwitchedOff) {
    const auto names = alteration_names();
    for (uint64_t i = 0; i < 40 && !HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + 800000 + i;
        SCOPED_TRACE(seed);
        const Graph graph = random_graph(seed, {.nodes = 40});
        const std::string off = names[i % names.size()].name;
        const auto altered = improve(graph, {.is_off = [&](std::string_view name) { return name == off; }});
        ASSERT_TRUE(altered);
        EXPECT_TRUE(validate(altered->graph));
        for (const AlterationNote &note : altered->notes) EXPECT_NE(note.alteration, off);
        expect_equal_outputs(graph, altered->graph, seed, {.tolerance = 5e-6});
    }
}

// A convolution of 1x1 for each number of channels, of one image; their sum is read.
Graph inception(const std::vector<int> &outputs) {
    Sketch s(1);
    const ValueId x = s.input({1, 16, 28, 28});
    Ids results;
    for (const int n : outputs) results.push_back(s.convolution({x}, n, {1, 1}));
    return std::move(s).finish(results);
}

// ns of convolutions by output channels.
KernelTimes by_channels(std::map<int64_t, double> ns) {
    return [ns](const Workload &w) -> std::optional<double> {
        const auto found = w.op == Operation::conv ? ns.find(w.kernel.back()) : ns.end();
        return found == ns.end() ? std::nullopt : std::optional(found->second);
    };
}

std::string notes_text(const std::vector<AlterationNote> &notes) {
    const std::map<AlterationNote::Reason, std::string> reasons{
        {AlterationNote::Reason::costs_less, "chosen"},
        {AlterationNote::Reason::gains_too_little, "too little"},
        {AlterationNote::Reason::not_measured, "not measured"},
        {AlterationNote::Reason::not_weighed, "not weighed"}};
    std::string text;
    for (const AlterationNote &note : notes) {
        EXPECT_EQ(note.is_chosen, note.reason == AlterationNote::Reason::costs_less);
        text += (text.empty() ? "" : "; ") + note.alteration + (note.is_measured ? " measured " : " estimated ") +
                reasons.at(note.reason);
    }
    return text;
}

TEST(Alter, TakesWhatCostsLess) {
    constexpr double us = 1000;
    const struct {
        const char *what;
        KernelTimes times;
        Unmeasured unmeasured;
        std::string told;
    } cases[] = {
        {"the joined kernel is fast", by_channels({{8, 400 * us}, {24, 500 * us}, {32, 300 * us}}),
         Unmeasured::not_used, "side_by_side measured chosen"},
        {"the joined kernel is slow", by_channels({{8, 40 * us}, {24, 50 * us}, {32, 300 * us}}), Unmeasured::not_used,
         "side_by_side measured too little"},
        {"it was not measured", by_channels({{8, 400 * us}, {24, 500 * us}}), Unmeasured::not_used,
         "side_by_side estimated not measured"},
    };
    for (const auto &c : cases) {
        const std::vector<Alteration> one{named("side_by_side")};
        const auto altered = alter(inception({8, 24}), one, {.prices = {c.times, c.unmeasured}});
        ASSERT_TRUE(altered);
        EXPECT_EQ(notes_text(altered->notes), c.told) << c.what;
        const int64_t convolutions = std::ranges::count_if(
            altered->graph.nodes, [](const Node &node) { return std::holds_alternative<Convolution>(node.op); });
        EXPECT_EQ(convolutions, altered->notes.at(0).is_chosen ? 1 : 2) << c.what;
    }
}

// Reshapes are the bytes of their input.
TEST(Alter, WhatCostsNothingStays) {
    const Alteration shorter{.name = "shorter", .summary = "", .at = [](const GraphIndex &index, const Node &node) {
                                 const Node *before = index.producer(node.inputs[0]);
                                 std::vector<Patch> patches;
                                 if (!before) return Result<std::vector<Patch>>(patches);
                                 Patch patch(index.graph());
                                 patch.replace(node.output, patch.node(node.op, before->inputs));
                                 patches.push_back(patch);
                                 return Result<std::vector<Patch>>(patches);
                             }};
    Sketch s(1);
    const ValueId x = s.reshape(s.input({2, 12}), {4, 6});
    const Graph graph = std::move(s).finish(Ids{s.reshape(x, {24})});
    const auto altered = alter(graph, std::vector{shorter}, {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(notes_text(altered->notes), "shorter estimated too little");
    ASSERT_EQ(altered->notes.size(), 1u);
    EXPECT_EQ(altered->notes[0].before_ns, 0);
    EXPECT_EQ(altered->graph.nodes.size(), 2u);
}

// The network has four nodes, and five behind each of its three patches, of which none is chosen. Its own price counts once.
TEST(Alter, PlacesStayAsTheyAreOnceEnoughNodesWerePriced) {
    const std::string tried = "side_by_side estimated not measured", left = "side_by_side estimated not weighed";
    const struct {
        int64_t most_priced_nodes;
        std::string told;
    } cases[] = {
        {15, tried + "; " + tried + "; " + tried},
        {14, tried + "; " + tried + "; " + left},
        {9, tried + "; " + left},
        {0, left},
    };
    for (const auto &c : cases) {
        const std::vector<Alteration> one{named("side_by_side")};
        const Graph graph = inception({8, 24, 8, 24});
        const auto altered = alter(
            graph, one, {.prices = {by_channels({{8, 4e5}, {24, 5e5}})}, .most_priced_nodes = c.most_priced_nodes});
        ASSERT_TRUE(altered);
        EXPECT_EQ(notes_text(altered->notes), c.told) << c.most_priced_nodes;
        EXPECT_TRUE(altered->graph == graph) << c.most_priced_nodes;
    }
}

// To price the whole network for each of the others took minutes.
TEST(Alter, ThousandsOfConvolutionsOfOneInputAreLeft) {
    const std::vector<Alteration> one{named("side_by_side")};
    const auto altered = alter(inception(std::vector<int>(2000, 4)), one, {.most_priced_nodes = 1});
    ASSERT_TRUE(altered);
    ASSERT_EQ(altered->notes.size(), 2u);
    EXPECT_NE(altered->notes[0].reason, AlterationNote::Reason::not_weighed);
    EXPECT_EQ(altered->notes[1].reason, AlterationNote::Reason::not_weighed);
}

TEST(Alter, MeansOfImagesAreTakenEarlierByEstimate) {
    Sketch s(1);
    const ValueId y = s.convolution({s.input({1, 32, 13, 13})}, 64, {1, 1});
    const Graph graph = std::move(s).finish(Ids{s.node(Reduce{Reduce::Kind::mean, {2, 3}}, {y})});
    const auto altered = improve(graph, {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(notes_text(altered->notes), "pool_before_convolution estimated chosen");
    EXPECT_GT(altered->notes[0].before_ns, 5 * altered->notes[0].after_ns);
    const auto off =
        improve(graph, {.is_off = [](std::string_view name) { return name == "pool_before_convolution"; }});
    ASSERT_TRUE(off);
    EXPECT_EQ(notes_text(off->notes), "");
}

// The transitions of DenseNet: a quarter of the products.
TEST(Alter, AveragesOfWindowsAreTakenEarlierByEstimate) {
    Sketch s(1);
    const ValueId y = s.convolution({s.input({1, 256, 56, 56})}, 128, {1, 1});
    const Pool halves{Pool::Kind::average, {2, 2}, {2, 2}, {1, 1}, {{}, {}}, {0, 0}};
    const auto altered = improve(std::move(s).finish(Ids{s.node(halves, {y})}), {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(notes_text(altered->notes), "pool_before_convolution estimated chosen");
    EXPECT_GT(altered->notes[0].before_ns, 2 * altered->notes[0].after_ns);
}

// The model is not to blame. Only a debug build stops.
TEST(Alter, AWrongPatchOfKilnLeavesThePlaceAsItIs) {
    Alteration wrong{.name = "wrong", .summary = "", .at = [](const GraphIndex &index, const Node &) {
                         return Result<std::vector<Patch>>(std::vector{Patch(index.graph())});
                     }};
    const Graph graph = inception({8, 24});
    const auto run = [&] {
        const auto altered = alter(graph, std::vector{wrong}, {});
        ASSERT_TRUE(altered);
        EXPECT_TRUE(altered->graph == graph);
        EXPECT_EQ(notes_text(altered->notes), "");
    };
    EXPECT_DEBUG_DEATH(run(), "wrong patch");
    wrong.library = "libmine.so";
    const auto refused = alter(graph, std::vector{wrong}, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("replaces nothing"), std::string::npos) << refused.error().message;
}

TEST(Alter, PassesAreAlterationsThatCanBeSwitchedOff) {
    Sketch s(1);
    const ValueId y = s.convolution({s.pad(s.input({1, 8, 20, 20}), 2, 1, 1)}, 8, {3, 3});
    const Graph graph = std::move(s).finish(Ids{s.elementwise("max(x0,0)", {y})});
    const auto altered = improve(graph, {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(notes_text(altered->notes), "fold_pads estimated chosen; fuse_epilogues estimated chosen");
    EXPECT_EQ(altered->graph.nodes.size(), 1u);
    for (const char *off : {"fold_pads", "fuse_epilogues"}) {
        const auto without = improve(graph, {.is_off = [&](std::string_view name) { return name == off; }});
        ASSERT_TRUE(without);
        EXPECT_EQ(without->graph.nodes.size(), 2u) << off;
    }
}

// Estimates say that the epilogue costs more, since they count a move for each of two readers.
TEST(Alter, PassesStayWhereNothingIsMeasured) {
    Sketch s(1);
    const ValueId x = s.input({1, 10, 13, 12});
    const ValueId a = s.convolution({x}, 6, {1, 1}), b = s.elementwise("max(x0,0)", {s.convolution({x}, 8, {1, 1})});
    const ValueId c = s.node(Concat{1}, {a, b});
    const auto altered = improve(std::move(s).finish(Ids{s.elementwise("max(x0,0)", {c}), b}), {});
    ASSERT_TRUE(altered);
    for (const AlterationNote &note : altered->notes) {
        EXPECT_TRUE(note.alteration != "fuse_epilogues" || note.is_chosen);
    }
}

}  // namespace
}  // namespace kiln::network
