// Single operators and the keys of their workloads.
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
std::string text(const std::optional<Workload> &w) { return w ? key(*w) : "none"; }

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
        {plain(4), {Element::f32, {1, 1, 2, 2, 2, 2}}, {Element::f32, {1, 1, 1, 1, 1, 1}}, "none: with 4 spatial axes"},
        {plain(0), {Element::f32, {1, 1}}, {Element::f32, {1, 1}}, "none: with 0 spatial axes"},
        {plain(1), {Element::i32, {1, 1, 2}}, {Element::i32, {1, 1, 1}}, "none: of i32"},
        {plain(1), {Element::i8, {1, 1, 2}}, {Element::i8, {1, 1, 1}}, "none: of i8"},
        {plain(1), {Element::f64, {1, 1, 2}}, {Element::f64, {1, 1, 1}}, "none: of f64"},
    };
    for (const auto &row : rows) EXPECT_EQ(text(convolution_workload(row.op, row.x, row.weights)), row.key);
    // An empty input has no workload, and that is no crash.
    EXPECT_FALSE(convolution_workload(plain(1), {Element::f32, {0, 1, 2}}, {Element::f32, {1, 1, 1}}));
}

TEST(NodeWorkloads, OfProducts) {
    const struct {
        Shape a, b;
        Element type;
        const char *key;
    } rows[] = {
        {{5, 7}, {7, 9}, Element::f32, "conv1d/input:1x5x7/kernel:1x7x9"},
        {{2, 3, 5, 7}, {7, 9}, Element::f32, "conv1d/input:6x5x7/kernel:1x7x9"},
        {{2, 3, 5, 7}, {1, 1, 7, 9}, Element::bf16, "conv1d/input:6x5x7/kernel:1x7x9/dtype:bf16"},
        {{5, 7}, {4, 7, 9}, Element::f32, "conv1d/input:4x9x7/kernel:1x7x5"},
        {{4, 5, 7}, {4, 7, 9}, Element::f32, "none: with a matrix for each image"},
        {{5, 7}, {7, 9}, Element::i32, "none: of i32"},
    };
    for (const auto &row : rows) EXPECT_EQ(text(product_workload({row.type, row.a}, {row.type, row.b})), row.key);
    EXPECT_FALSE(product_workload({Element::f32, {0, 7}}, {Element::f32, {7, 9}}));
}

TEST(NodeWorkloads, OfShuffles) {
    const struct {
        const char *what;
        Shape input, split;
        std::vector<int> permutation;
        Shape output;
        const char *key;
    } rows[] = {
        {"DepthToSpace, DCR",
         {2, 12, 4, 5},
         {2, 2, 2, 3, 4, 5},
         {0, 3, 4, 1, 5, 2},
         {2, 3, 8, 10},
         "depth_to_space/input:2x4x5x12/block:2x2"},
        {"DepthToSpace, CRD: another order of channels",
         {2, 12, 4, 5},
         {2, 3, 2, 2, 4, 5},
         {0, 1, 4, 2, 5, 3},
         {2, 3, 8, 10},
         "none"},
        {"CRD of one channel is DCR",
         {2, 4, 3, 5},
         {2, 1, 2, 2, 3, 5},
         {0, 1, 4, 2, 5, 3},
         {2, 1, 6, 10},
         "depth_to_space/input:2x3x5x4/block:2x2"},
        {"SpaceToDepth",
         {1, 3, 8, 10},
         {1, 3, 4, 2, 5, 2},
         {0, 3, 5, 1, 2, 4},
         {1, 12, 4, 5},
         "space_to_depth/input:1x8x10x3/block:2x2"},
        {"the batch left out",
         {1, 3, 8, 10},
         {3, 4, 2, 5, 2},
         {2, 4, 0, 1, 3},
         {1, 12, 4, 5},
         "space_to_depth/input:1x8x10x3/block:2x2"},
        {"axes that stay together joined",
         {1, 3, 8, 10},
         {12, 2, 5, 2},
         {1, 3, 0, 2},
         {1, 12, 4, 5},
         "space_to_depth/input:1x8x10x3/block:2x2"},
        {"one axis",
         {1, 3, 8, 10},
         {1, 3, 8, 5, 2},
         {0, 4, 1, 2, 3},
         {1, 6, 8, 5},
         "space_to_depth/input:1x8x10x3/block:1x2"},
        {"a volume",
         {1, 8, 2, 3, 4},
         {1, 2, 2, 2, 1, 2, 3, 4},
         {0, 4, 5, 1, 6, 2, 7, 3},
         {1, 1, 4, 6, 8},
         "depth_to_space/input:1x2x3x4x8/block:2x2x2"},
        {"channels shuffled", {1, 12, 4, 5}, {1, 3, 4, 4, 5}, {0, 2, 1, 3, 4}, {1, 12, 4, 5}, "none"},
        {"other sizes with the same product", {1, 12, 4, 5}, {1, 12, 20}, {0, 2, 1}, {1, 2, 10, 12}, "none"},
        {"rank 2", {4, 6}, {4, 6}, {1, 0}, {4, 6}, "none"},
        {"nothing there", {1, 0, 4, 4}, {1, 2, 2, 0, 4, 4}, {0, 3, 4, 1, 5, 2}, {1, 0, 8, 8}, "none"},
    };
    for (const auto &row : rows) {
        const Shuffle shuffle{{Element::f32, row.input}, row.split, row.permutation, row.output};
        EXPECT_EQ(text(shuffle_workload(shuffle)), row.key) << row.what;
    }
}

}  // namespace
}  // namespace kiln::graph
