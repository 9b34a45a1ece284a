// That each alteration keeps the values of a network wherever it applies.
#include <gtest/gtest.h>

#include "graph/passes/passes.h"
#include "tests/graph/passes/quantized_graphs.h"
#include "tests/graph/passes/random_graphs.h"
#include "tests/graph/passes/sketch.h"
#include "tests/network/alter/named_alteration.h"
#include "tests/test_seed.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;
using StepKind = EpilogueStep::Kind;

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

    // Taps that lie far apart.
    Graph dilated() {
        const ValueId x = image(count(1, 3), 2, 5);
        const size_t rank = s_.shape(x).size() - 2;
        const Shape taps = window(rank, 4);
        Convolution op = any_convolution(rank, 2);
        for (size_t d = 0; d < rank; d++) {
            op.dilations[d] = count(1, 6);
            const int64_t reach = (taps[d] - 1) * op.dilations[d];
            op.padding[d] = {reach / 2, reach - reach / 2};
        }
        const int outputs = count(1, 5);
        Ids inputs{x};
        epilogue(&op, &inputs, outputs);
        return std::move(s_).finish(Ids{s_.convolution(inputs, outputs, taps, op)});
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

    // A depthwise convolution of an image that is large enough, and what reads it.
    Graph separable() {
        const int channels = count(2, 4);
        const bool has_rows = count(0, 1) == 1;
        Shape shape{1, channels, 300000 / channels};
        if (has_rows) shape = {count(1, 2), channels, count(180, 200), 1600 / channels};
        const ValueId x = s_.input(shape);
        const size_t rank = shape.size() - 2;
        Convolution in_front = any_convolution(rank, 1);
        in_front.dilations[0] = count(1, 2);
        in_front.groups = channels;
        Ids inputs{x};
        for (const StepKind kind : {StepKind::bias, StepKind::scale, StepKind::relu}) {
            if (count(0, 1) == 0) continue;
            in_front.epilogue.push_back({kind});
            if (kind != StepKind::relu) inputs.push_back(s_.random({channels}));
        }
        const ValueId y = s_.convolution(inputs, channels, window(rank, 3), in_front);
        Convolution behind = any_convolution(rank, 1);
        behind.padding.assign(rank, {});
        Ids read{y};
        const int outputs = count(1, 3);
        epilogue(&behind, &read, outputs);
        return std::move(s_).finish(Ids{s_.convolution(read, outputs, Shape(rank, 1), behind)});
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
        uint64_t graphs = 200;
    } cases[] = {{"side_by_side", &Drawing::side_by_side},
                 {"space_to_depth", &Drawing::strided},
                 {"pool_before_convolution", &Drawing::pooled},
                 {"shuffled_channels", &Drawing::shuffled},
                 {"fuse_prologues", &Drawing::before_convolutions},
                 {"separable", &Drawing::separable, 12},
                 {"split_by_taps", &Drawing::dilated}};
    for (const auto &c : cases) {
        int patches = 0;
        for (uint64_t i = 0; i < c.graphs && !HasFailure(); i++) {
            const uint64_t seed = test_seed() * 1000000 + i;
            SCOPED_TRACE(std::string(c.name) + " " + std::to_string(seed));
            Drawing drawing(seed);
            patches += expect_patches_keep_values(named(c.name), (drawing.*c.draw)(), seed, 1e-9);
        }
        EXPECT_GT(patches, int(c.graphs) / 3) << c.name;
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

// In nine parts, or in three of rows; a window of three whose last taps alone meet padding loses too few.
TEST(EachAlteration, PartsOfAnImageByTaps) {
    const struct {
        int64_t extent, dilation;
        int patches;
    } rows[] = {{9, 1, 0}, {9, 3, 0}, {9, 6, 2}, {9, 8, 2}, {14, 12, 2}};
    for (const auto &row : rows) {
        Sketch s;
        Convolution op{.strides = {1, 1}, .input_dilation = {1, 1}};
        op.dilations.assign(2, row.dilation);
        op.padding.assign(2, {row.dilation, row.dilation});
        op.epilogue = {{StepKind::bias}, {StepKind::relu}};
        const ValueId y = s.convolution({s.input({1, 2, row.extent, row.extent}), s.random({3})}, 3, {3, 3}, op);
        const Graph graph = std::move(s).finish({y});
        EXPECT_EQ(expect_patches_keep_values(named("split_by_taps"), graph, 1, 1e-9), row.patches) << row.dilation;
        const auto patches = named("split_by_taps").at(GraphIndex(graph), graph.nodes[0]);
        ASSERT_TRUE(patches);
        if (row.patches == 0) continue;
        EXPECT_EQ(apply(graph, (*patches)[0])->nodes.size(), 9 + 4);
        EXPECT_EQ(apply(graph, (*patches)[1])->nodes.size(), 3 + 1);
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

}  // namespace
}  // namespace kiln::network
