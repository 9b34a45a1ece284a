// Convolutions and the keys of their workloads.
#include "graph/workloads/node_workloads.h"

#include <gtest/gtest.h>

namespace kiln::graph {
namespace {

Convolution plain(size_t rank) {
    const std::vector<int64_t> ones(rank, 1);
    return {.strides = ones, .input_dilation = ones, .dilations = ones, .padding = std::vector<Padding>(rank)};
}

Convolution with(Convolution op, void (*change)(Convolution &)) {
    change(op);
    return op;
}

std::string text(const Result<Workload> &w) { return w ? key(*w) : "none: " + w.error().message; }

TEST(NodeWorkloads, OfConvolutions) {
    using Step = EpilogueStep;
    const struct {
        Convolution op;
        TypedShape x, weights;
        const char *key;
    } rows[] = {
        {plain(2),
         {Element::f32, {1, 3, 32, 24}},
         {Element::f32, {16, 3, 3, 5}},
         "conv2d/input:1x32x24x3/kernel:3x5x3x16"},
        {plain(1), {Element::f32, {2, 4, 10}}, {Element::f32, {8, 4, 1}}, "conv1d/input:2x10x4/kernel:1x4x8"},
        {plain(3),
         {Element::f16, {1, 4, 5, 6, 7}},
         {Element::f16, {8, 4, 1, 2, 3}},
         "conv3d/input:1x5x6x7x4/kernel:1x2x3x4x8/dtype:f16"},
        {with(plain(2),
              [](Convolution &c) {
                  c.strides = {2, 1};
                  c.input_dilation = {1, 2};
                  c.dilations = {3, 1};
                  c.padding = {{1, 2}, {-1, 0}};
                  c.groups = 4;
                  c.epilogue = {{Step::Kind::bias}, {Step::Kind::add}, {Step::Kind::clamp, 0, 6}};
              }),
         {Element::f32, {1, 8, 32, 32}},
         {Element::f32, {16, 2, 3, 3}},
         "conv2d/input:1x32x32x8/kernel:3x3x2x16/strides:2x1/padding:1,2x-1,0/lhs_dilation:1x2/rhs_dilation:3x1/"
         "feature_group_count:4/epilogue:bias,add,clamp:0:6"},
        {with(plain(1), [](Convolution &c) { c.separate_sums = true; }),
         {Element::f32, {1, 4, 10}},
         {Element::f32, {8, 4, 1}},
         "conv1d/input:1x10x4/kernel:1x4x8/special_values:exact"},
        {plain(4), {Element::f32, {1, 1, 2, 2, 2, 2}}, {Element::f32, {1, 1, 1, 1, 1, 1}}, "none: with 4 spatial axes"},
        {plain(0), {Element::f32, {1, 1}}, {Element::f32, {1, 1}}, "none: with 0 spatial axes"},
        {plain(1), {Element::i32, {1, 1, 2}}, {Element::i32, {1, 1, 1}}, "none: of i32"},
        {plain(1),
         {Element::i8, {1, 1, 2}},
         {Element::i8, {1, 1, 1}},
         "conv1d/input:1x2x1/kernel:1x1x1/dtype:i8/output_dtype:i32"},
        {plain(1), {Element::f64, {1, 1, 2}}, {Element::f64, {1, 1, 1}}, "none: of f64"},
    };
    for (const auto &row : rows) EXPECT_EQ(text(convolution_workload(row.op, row.x, row.weights)), row.key);
    // An empty input has no workload, and that is no crash.
    EXPECT_FALSE(convolution_workload(plain(1), {Element::f32, {0, 1, 2}}, {Element::f32, {1, 1, 1}}));
}

}  // namespace
}  // namespace kiln::graph
