// Which layouts are chosen, by the times that there are.
#include "network/layouts.h"

#include <gtest/gtest.h>

#include <map>

#include "network/emit.h"
#include "tests/graph/passes/sketch.h"

namespace kiln::network {
namespace {

using namespace graph;
using Ids = std::vector<ValueId>;

std::string layouts_of(const Workload &w) { return name(w.input_layout) + ">" + name(w.output_layout); }

// Layouts of convolutions, and moves: nests that only read.
std::vector<std::string> told(const Program &program) {
    std::vector<std::string> steps;
    for (const Step &step : program.steps) {
        const auto *call = std::get_if<KernelCall>(&step.work);
        if (!call) {
            steps.push_back("copy");
        } else if (call->workload.op == Operation::conv) {
            steps.push_back(layouts_of(call->workload));
        } else {
            steps.push_back(call->workload.term == "x0" ? "move" : call->workload.term);
        }
    }
    return steps;
}

// ns by layouts, of every convolution.
KernelTimes by_layouts(std::map<std::string, double> ns) {
    return [ns](const Workload &w) -> std::optional<double> {
        const auto found = w.op == Operation::conv ? ns.find(layouts_of(w)) : ns.end();
        return found == ns.end() ? std::nullopt : std::optional(found->second);
    };
}

bool reads_first_planes(const Workload &w) { return w.input_layout.kind == ActivationLayout::Kind::nchw; }

// Two convolutions between an input and an output of the network, which are channels-first.
Graph chain() {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 20, 20})}, 8, {3, 3});
    const ValueId y = s.convolution({s.elementwise("max(x0,0)", {x})}, 8, {3, 3});
    return std::move(s).finish(Ids{y});
}

// With bytes between them that choose numbers.
Graph with_table() {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 20, 20})}, 8, {3, 3});
    const ValueId bytes = s.elementwise("u8(x0)", {x});
    const ValueId y = s.convolution({s.node(Gather{0}, {s.random({256}), bytes})}, 8, {3, 3});
    return std::move(s).finish(Ids{y});
}

// Its result in every channel of a larger one.
Graph with_concat() {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 20, 20})}, 8, {1, 1});
    const ValueId a = s.convolution({x}, 8, {1, 1}), b = s.convolution({x}, 8, {1, 1});
    return std::move(s).finish(Ids{s.convolution({s.node(Concat{1}, {a, b})}, 8, {1, 1})});
}

// A part of what a convolution computes, from a channel on.
Graph with_slice(int64_t first) {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 20, 20})}, 16, {1, 1});
    Resample::Axis part{.axis = 1, .taps = 1, .indices = {}, .weights = {}};
    for (int64_t i = 0; i < 8; i++) part.indices.push_back(first + i);
    return std::move(s).finish(Ids{s.convolution({s.node(Resample{{part}, 0}, {x})}, 8, {1, 1})});
}

// Channels are multiplied by their averages.
Graph with_average() {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 20, 20})}, 8, {1, 1});
    const ValueId average = s.node(Reduce{Reduce::Kind::mean, {2, 3}}, {x});
    return std::move(s).finish(Ids{s.convolution({s.elementwise("mul(x0,x1)", {x, average})}, 8, {1, 1})});
}

// A pool goes along what was the channels before.
Graph with_pool_of_channels() {
    Sketch s(1);
    const ValueId x = s.transpose(s.convolution({s.input({1, 8, 8, 8})}, 8, {1, 1}), {0, 2, 1, 3});
    const ValueId pooled = s.node(Pool{Pool::Kind::maximum, {3, 1}, {1, 1}, {1, 1}, {{1, 1}, {0, 0}}, {0, 0}}, {x});
    return std::move(s).finish(Ids{s.convolution({s.transpose(pooled, {0, 2, 1, 3})}, 8, {1, 1})});
}

// What it adds lies alike in every order, and its result does not.
Graph with_broadcast() {
    Sketch s(1);
    const ValueId sum = s.elementwise("add(x0,x1)", {s.input({1, 8, 1, 1}), s.input({1, 1, 20, 20})});
    return std::move(s).finish(Ids{s.convolution({sum}, 8, {3, 3})});
}

Graph with_depthwise_in_front() {
    Sketch s(1);
    const ValueId x = s.input({1, 8, 20, 20}), weights = s.random({8, 1, 3, 3});
    return std::move(s).finish(Ids{s.convolution({x, weights}, 8, {1, 1}, {.depthwise = {3, 3}})});
}

TEST(Layouts, AreThoseThatCostLeast) {
    constexpr double ms = 1e6;
    using Steps = std::vector<std::string>;
    const struct {
        const char *what;
        Graph graph;
        LayoutPrices prices;
        Steps steps;
    } cases[] = {
        {"nothing is measured", chain(), {}, {"move", "NHWC>NHWC", "max(x0,0)", "NHWC>NHWC", "move"}},
        {"a kernel reads planes as fast",
         chain(),
         {.reads_planes = reads_first_planes},
         {"NCHW>NHWC", "max(x0,0)", "NHWC>NHWC", "move"}},
        {"a kernel reads planes as fast, perhaps, but channels-last was measured",
         chain(),
         {.times = by_layouts({{"NHWC>NHWC", ms}}), .reads_planes = reads_first_planes},
         {"move", "NHWC>NHWC", "max(x0,0)", "NHWC>NHWC", "move"}},
        {"what is broadcast is computed as it is read", with_broadcast(), {}, {"add(x0,x1)", "NHWC>NHWC", "move"}},
        {"what nobody measured is worth a measurement where it saves a move",
         chain(),
         {{}, Unmeasured::as_fast},
         {"NCHW>NCHW", "max(x0,0)", "NCHW>NCHW"}},
        {"no kernel reads channels apart for a depthwise convolution in front",
         with_depthwise_in_front(),
         {{}, Unmeasured::as_fast},
         {"move", "NHWC>NCHW"}},
        {"channels-first is as fast",
         chain(),
         {by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW", ms}})},
         {"NCHW>NCHW", "max(x0,0)", "NCHW>NCHW"}},
        {"channels-first is slower than two moves",
         chain(),
         {by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW", 2 * ms}})},
         {"move", "NHWC>NHWC", "max(x0,0)", "NHWC>NHWC", "move"}},
        {"kernels that change the order are fast",
         chain(),
         {by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NHWC", ms}, {"NHWC>NCHW", ms}})},
         {"NCHW>NHWC", "max(x0,0)", "NHWC>NCHW"}},
        {"parts of a concatenation are written in their place",
         with_concat(),
         {by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW", ms}})},
         Steps(4, "NCHW>NCHW")},
        {"parts of a concatenation are whole blocks",
         with_concat(),
         {.times = by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW4c", ms}, {"NCHW4c>NCHW4c", ms}, {"NCHW4c>NCHW", ms}}),
          .block = 4},
         {"NCHW>NCHW4c", "NCHW4c>NCHW4c", "NCHW4c>NCHW4c", "NCHW4c>NCHW"}},
        {"blocks do not divide the parts",
         with_concat(),
         {.times = by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW16c", 0}, {"NCHW16c>NCHW16c", 0}, {"NCHW16c>NCHW", 0}}),
          .block = 16},
         {"move", "NHWC>NHWC", "NHWC>NHWC", "NHWC>NHWC", "copy", "copy", "NHWC>NHWC", "move"}},
        {"a slice of whole blocks is no step",
         with_slice(4),
         {.times = by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW4c", ms}, {"NCHW4c>NCHW", ms}}), .block = 4},
         {"NCHW>NCHW4c", "NCHW4c>NCHW"}},
        {"blocks are not cut by a slice",
         with_slice(2),
         {.times = by_layouts({{"NHWC>NHWC", ms}, {"NCHW>NCHW4c", ms}, {"NCHW4c>NCHW", ms}}), .block = 4},
         {"move", "NCHW4c>NCHW", "move", "NCHW4c>NCHW"}},
        {"blocks are not cut by windows",
         with_pool_of_channels(),
         {.times = by_layouts({{"NHWC>NHWC", 9 * ms}, {"NCHW>NCHW4c", ms}, {"NCHW4c>NCHW", ms}}), .block = 4},
         {"NCHW>NCHW4c", "move", "move", "move", "NCHW4c>NCHW"}},
        {"blocks are worth a measurement where they save copies, rather than channels-first",
         with_concat(),
         {.times = by_layouts({{"NCHW>NCHW", ms}, {"NHWC>NHWC", ms / 100}}),
          .unmeasured = Unmeasured::as_fast,
          .block = 4},
         {"NCHW>NCHW4c", "NCHW4c>NCHW4c", "NCHW4c>NCHW4c", "NCHW4c>NCHW"}},
        {"numbers of a table are looked up as the bytes lie",
         with_table(),
         {},
         {"move", "NHWC>NHWC", "u8(x0)", "move", "NHWC>NHWC", "move"}},
        {"an average of each channel is read block by block",
         with_average(),
         {.times = by_layouts({{"NHWC>NHWC", 9 * ms}, {"NCHW>NCHW4c", ms}, {"NCHW4c>NCHW", ms}}), .block = 4},
         {"NCHW>NCHW4c", "move", "mul(x0,x1)", "NCHW4c>NCHW"}},
    };
    for (const auto &c : cases) {
        const auto program = emit(c.graph, c.prices);
        ASSERT_TRUE(program) << c.what << ": " << program.error().message;
        EXPECT_EQ(told(*program), c.steps) << c.what;
        EXPECT_LE(program->layouts.lower_bound_ns, program->layouts.cost_ns) << c.what;
        EXPECT_LE(program->layouts.cost_ns, program->layouts.channels_last_ns) << c.what;
        EXPECT_EQ(program->layouts.measured > 0, c.prices.times != nullptr) << c.what;
    }
}

TEST(Layouts, AxesOfOneElementHaveNoOrder) {
    Sketch s(1);
    const ValueId x = s.convolution({s.input({1, 8, 1, 1})}, 8, {1, 1});
    const auto program = emit(std::move(s).finish(Ids{s.convolution({x}, 8, {1, 1})}));
    ASSERT_TRUE(program);
    EXPECT_EQ(told(*program), std::vector<std::string>(2, "NHWC>NHWC"));
}

}  // namespace
}  // namespace kiln::network
