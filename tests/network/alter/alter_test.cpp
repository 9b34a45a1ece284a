// Which alterations a network gets, by the times that there are, and that each keeps the values wherever it applies.
#include "network/alter/alter.h"

#include <gtest/gtest.h>

#include <map>

#include "graph/passes/passes.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;
using StepKind = EpilogueStep::Kind;

const Alteration &named(const std::string &name) {
    for (const Alteration &alteration : alterations()) {
        if (alteration.name == name) return alteration;
    }
    ADD_FAILURE() << "there is no " << name;
    return alterations()[0];
}

// Every patch at every node, each on its own.
int expect_patches_keep_values(const Alteration &alteration, const Graph &graph, uint64_t seed, double tolerance) {
    int patches = 0;
    const GraphIndex index(graph);
    for (const Node &node : graph.nodes) {
        const auto found = alteration.at(index, node);
        if (!found) ADD_FAILURE() << found.error().message;
        if (!found) return patches;
        for (const Patch &patch : *found) {
            patches++;
            const auto after = apply(graph, patch);
            EXPECT_TRUE(after) << (after ? "" : after.error().message) << "\n" << told(graph);
            if (!after) return patches;
            const Status status = validate(*after);
            EXPECT_TRUE(status) << (status ? "" : status.error().message);
            expect_equal_outputs(graph, *after, seed, {.tolerance = tolerance});
        }
    }
    return patches;
}

// Small networks of the kinds that alterations are for, with everything else drawn at random.
class Drawing {
public:
    explicit Drawing(uint64_t seed) : s_(seed) {}

    int count(int lo, int hi) { return std::min(hi, static_cast<int>(s_.draw(lo, hi + 1))); }

    ValueId image(int64_t channels, int lo = 1, int hi = 9) {
        Shape shape{count(1, 2), channels};
        for (int d = count(1, 3); d > 0; d--) shape.push_back(count(lo, hi));
        return s_.input(shape);
    }

    Convolution any_convolution(size_t rank, int most_stride) {
        Convolution op;
        for (size_t d = 0; d < rank; d++) {
            op.strides.push_back(count(1, most_stride));
            op.input_dilation.push_back(1);
            op.dilations.push_back(1);
            op.padding.push_back({count(-1, 3), count(-1, 3)});
        }
        return op;
    }

    void epilogue(Convolution *op, Ids *inputs, int64_t outputs) {
        for (const StepKind kind : {StepKind::bias, StepKind::prelu, StepKind::relu}) {
            if (count(0, 1) == 0) continue;
            op->epilogue.push_back({kind});
            if (kind != StepKind::relu) inputs->push_back(s_.random({outputs}));
        }
    }

    Shape window(size_t rank, int most) {
        Shape window;
        for (size_t d = 0; d < rank; d++) window.push_back(count(1, most));
        return window;
    }

    Graph side_by_side() {
        const ValueId x = image(count(1, 4), 5);
        const size_t rank = s_.shape(x).size() - 2;
        const Convolution op = any_convolution(rank, 2);
        const Shape window = this->window(rank, 3);
        Ids results;
        for (int i = count(2, 4); i > 0; i--) {
            const int outputs = count(1, 5);
            Convolution with = op;
            with.epilogue = {{StepKind::bias}, {StepKind::relu}};
            results.push_back(s_.convolution({x, s_.random({outputs})}, outputs, window, with));
        }
        if (count(0, 1) == 1) results.push_back(s_.node(Concat{1}, {results[0], results[1]}));
        return std::move(s_).finish(results);
    }

    Graph strided() {
        const ValueId x = image(count(1, 4), 4, 12);
        const size_t rank = s_.shape(x).size() - 2;
        Convolution op = any_convolution(rank, 4);
        const int outputs = count(1, 5);
        Ids inputs{x};
        epilogue(&op, &inputs, outputs);
        return std::move(s_).finish(Ids{s_.convolution(inputs, outputs, window(rank, 5), op)});
    }

    Graph pooled() {
        const int groups = count(1, 2);
        const ValueId x = image(groups * count(1, 3));
        const size_t rank = s_.shape(x).size() - 2;
        Convolution op = any_convolution(rank, 1);
        op.padding.assign(rank, {});
        op.groups = groups;
        const int outputs = groups * count(1, 4);
        Ids inputs{x};
        if (count(0, 1) == 1) {
            op.epilogue = {{StepKind::bias}};
            inputs.push_back(s_.random({outputs}));
        }
        const ValueId y = s_.convolution(inputs, outputs, Shape(rank, 1), op);
        if (count(0, 1) == 1) return std::move(s_).finish(Ids{s_.node(any_average(s_.shape(y)), {y})});
        std::vector<int> axes;
        for (size_t d = 0; d < rank; d++) axes.push_back(int(d) + 2);
        return std::move(s_).finish(Ids{s_.node(Reduce{Reduce::Kind::mean, axes}, {y})});
    }

    // Over windows that reach into the padding and perhaps behind it.
    Pool any_average(const Shape &of) {
        Pool pool{Pool::Kind::average, {}, {}, {}, {}, {}, count(0, 1) == 1};
        for (size_t d = 2; d < of.size(); d++) {
            const int extent = int(of[d]), window = count(1, std::min(extent, 3)), stride = count(1, 3);
            const Padding padding{count(0, window - 1), count(0, window - 1)};
            const int64_t padded = extent + padding.lo + padding.hi, left = (padded - window) % stride;
            pool.window.push_back(window);
            pool.strides.push_back(stride);
            pool.dilations.push_back(1);
            pool.padding.push_back(padding);
            // As ceil_mode has it: one more, which begins in the image.
            const bool may_reach = left > 0 && padded - window - left + stride < extent + padding.lo;
            pool.beyond.push_back(may_reach && count(0, 1) == 1 ? stride - left : 0);
        }
        return pool;
    }

    Graph shuffled() {
        const int groups = count(2, 3), channels = groups * count(2, 3);
        ValueId x = image(channels, 4);
        const size_t rank = s_.shape(x).size() - 2;
        if (count(0, 1) == 1) {
            Convolution op;
            Ids inputs{x};
            epilogue(&op, &inputs, channels);
            x = s_.convolution(inputs, channels, window(rank, 2), op);
        }
        Shape apart = s_.shape(x);
        const Shape shape = apart;
        apart[1] = channels / groups;
        apart.insert(apart.begin() + 1, groups);
        std::vector<int> permutation{0, 2, 1};
        for (size_t d = 0; d < rank; d++) permutation.push_back(int(d) + 3);
        ValueId y = s_.reshape(s_.transpose(s_.reshape(x, apart), permutation), shape);
        Convolution op = any_convolution(rank, 2);
        Ids inputs{y};
        switch (count(0, 2)) {
            case 0:
                op.groups = channels;
                epilogue(&op, &inputs, channels);
                return std::move(s_).finish(Ids{s_.convolution(inputs, channels, window(rank, 2), op)});
            case 1:
                return std::move(s_).finish(
                    Ids{s_.convolution(inputs, 3, window(rank, 2), op), s_.pad(y, 1, -1, -1), s_.pad(y, 1, 1, 0)});
            default:
                return std::move(s_).finish(Ids{y});
        }
    }

    // A batch normalization, an activation or a gate, and what reads it.
    Graph before_convolutions() {
        const ValueId x = image(count(1, 4));
        const Shape shape = s_.shape(x);
        Shape of_channels(shape.size(), 1);
        of_channels[1] = shape[1];
        const ValueId factor = count(0, 1) == 1 ? s_.random(of_channels) : s_.input(of_channels);
        constexpr const char *functions[] = {"max(add(mul(x0,x1),x2),0)", "mul(x1,x0)", "add(x2,mul(x0,x1))",
                                             "mul(mul(x0,x1),sigmoid(mul(x0,x1)))", "max(x0,0)"};
        const std::string function = functions[count(0, 4)];
        Ids read{x};
        if (function.find("x1") != std::string::npos) read.push_back(factor);
        if (function.find("x2") != std::string::npos) read.push_back(s_.random(of_channels));
        const ValueId y = s_.elementwise(function, read);
        Ids results;
        for (int i = count(1, 2); i > 0; i--) {
            Convolution op = any_convolution(shape.size() - 2, 2);
            Ids inputs{y};
            const int outputs = count(1, 5);
            epilogue(&op, &inputs, outputs);
            results.push_back(s_.convolution(inputs, outputs, window(shape.size() - 2, 3), op));
        }
        return std::move(s_).finish(results);
    }

private:
    Sketch s_;
};

TEST(EachAlteration, KeepsValuesWhereItIsFor) {
    const struct {
        const char *name;
        Graph (Drawing::*draw)();
    } cases[] = {{"side_by_side", &Drawing::side_by_side},
                 {"space_to_depth", &Drawing::strided},
                 {"pool_before_convolution", &Drawing::pooled},
                 {"shuffled_channels", &Drawing::shuffled},
                 {"fuse_prologues", &Drawing::before_convolutions}};
    constexpr uint64_t graphs = 200;
    for (const auto &c : cases) {
        int patches = 0;
        for (uint64_t i = 0; i < graphs && !HasFailure(); i++) {
            const uint64_t seed = test_seed() * 1000000 + i;
            SCOPED_TRACE(std::string(c.name) + " " + std::to_string(seed));
            Drawing drawing(seed);
            patches += expect_patches_keep_values(named(c.name), (drawing.*c.draw)(), seed, 1e-9);
        }
        EXPECT_GT(patches, int(graphs) / 3) << c.name;
    }
}

TEST(EachAlteration, KeepsValuesOfAnyGraph) {
    for (uint64_t i = 0; i < 150 && !HasFailure(); i++) {
        const uint64_t seed = test_seed() * 1000000 + 700000 + i;
        SCOPED_TRACE(seed);
        const auto graph = run_passes(random_graph(seed, {.nodes = 50}));
        ASSERT_TRUE(graph);
        for (const Alteration &alteration : alterations()) {
            SCOPED_TRACE(alteration.name);
            expect_patches_keep_values(alteration, *graph, seed, 1e-5);
        }
    }
}

TEST(EachAlteration, KeepsValuesOfQuantizedGraphs) {
    for (const Alteration &alteration : alterations()) {
        for (uint64_t i = 0; i < 40 && !testing::Test::HasFailure(); i++) {
            const uint64_t seed = test_seed() * 1000000 + i;
            SCOPED_TRACE(std::string(alteration.name) + " " + std::to_string(seed));
            expect_patches_keep_values(alteration, *run_passes(quantized_graph(seed)), seed, 0);
        }
    }
}

// A first layer of stored numbers: what is filled up with zeros stands for the zero point.
TEST(EachAlteration, PhasesOfQuantizedImagesHaveTheirZeroPoint) {
    Sketch s;
    const Convolution op{.strides = {2}, .input_dilation = {1}, .dilations = {1}, .padding = {{1, 2}}};
    std::vector<int64_t> weights;
    for (int64_t i = 0; i < 4 * 3 * 3; i++) weights.push_back(i % 11 - 5);
    const ValueId w = s.integers({4, 3, 3}, std::move(weights), Element::i8);
    const ValueId y = s.node(op, {s.input({1, 3, 9}, Element::u8), w, s.integers({1}, {7})});
    EXPECT_EQ(expect_patches_keep_values(named("space_to_depth"), std::move(s).finish({y}), 1, 0), 1);
}

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

std::string told(const std::vector<AlterationNote> &notes) {
    const std::map<AlterationNote::Reason, std::string> reasons{
        {AlterationNote::Reason::costs_less, "chosen"},
        {AlterationNote::Reason::gains_too_little, "too little"},
        {AlterationNote::Reason::not_measured, "not measured"}};
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
        EXPECT_EQ(told(altered->notes), c.told) << c.what;
        const int64_t convolutions = std::ranges::count_if(
            altered->graph.nodes, [](const Node &node) { return std::holds_alternative<Convolution>(node.op); });
        EXPECT_EQ(convolutions, altered->notes.at(0).is_chosen ? 1 : 2) << c.what;
    }
}

TEST(Alter, MeansOfImagesAreTakenEarlierByEstimate) {
    Sketch s(1);
    const ValueId y = s.convolution({s.input({1, 32, 13, 13})}, 64, {1, 1});
    const Graph graph = std::move(s).finish(Ids{s.node(Reduce{Reduce::Kind::mean, {2, 3}}, {y})});
    const auto altered = improve(graph, {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(told(altered->notes), "pool_before_convolution estimated chosen");
    EXPECT_GT(altered->notes[0].before_ns, 5 * altered->notes[0].after_ns);
    const auto off =
        improve(graph, {.is_off = [](std::string_view name) { return name == "pool_before_convolution"; }});
    ASSERT_TRUE(off);
    EXPECT_EQ(told(off->notes), "");
}

// The transitions of DenseNet: a quarter of the products.
TEST(Alter, AveragesOfWindowsAreTakenEarlierByEstimate) {
    Sketch s(1);
    const ValueId y = s.convolution({s.input({1, 256, 56, 56})}, 128, {1, 1});
    const Pool halves{Pool::Kind::average, {2, 2}, {2, 2}, {1, 1}, {{}, {}}, {0, 0}};
    const auto altered = improve(std::move(s).finish(Ids{s.node(halves, {y})}), {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(told(altered->notes), "pool_before_convolution estimated chosen");
    EXPECT_GT(altered->notes[0].before_ns, 2 * altered->notes[0].after_ns);
}

TEST(Alter, AveragesThatCountPaddingStayBehindABias) {
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

TEST(Alter, PrologueOnlyWhereConvolutionsAloneReadIt) {
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

TEST(Alter, PassesAreAlterationsThatCanBeSwitchedOff) {
    Sketch s(1);
    const ValueId y = s.convolution({s.pad(s.input({1, 8, 20, 20}), 2, 1, 1)}, 8, {3, 3});
    const Graph graph = std::move(s).finish(Ids{s.elementwise("max(x0,0)", {y})});
    const auto altered = improve(graph, {});
    ASSERT_TRUE(altered);
    EXPECT_EQ(told(altered->notes), "fold_pads estimated chosen; fuse_epilogues estimated chosen");
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
