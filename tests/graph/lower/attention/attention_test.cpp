// Attention against plain loops.
#include <functional>

#include "tests/graph/lower/attention/attention_cases.h"

namespace kiln::graph {
namespace {

RuleCase row_of(const AttentionCase &c) {
    const auto form = [&](const HeadBlock &block) { return c.has_three_axes ? block.joined() : block.heads(); };
    RuleCase row{"Attention", c.opset, {}, {form(c.q()), form(c.k()), form(c.v())}, {}};
    row.network_inputs = c.network_inputs;
    if (c.has_three_axes) row.attributes = {integer("q_num_heads", c.heads), integer("kv_num_heads", c.kv_heads)};
    if (c.scale) row.attributes.push_back(real("scale", static_cast<float>(*c.scale)));
    if (c.softcap > 0) row.attributes.push_back(real("softcap", static_cast<float>(c.softcap)));
    if (c.is_causal) row.attributes.push_back(integer("is_causal", 1));
    if (c.left >= 0) row.attributes.push_back(integer("left_window_size", c.left));
    if (c.right >= 0) row.attributes.push_back(integer("right_window_size", c.right));
    row.attributes.push_back(integer("qk_matmul_output_mode", c.mode));
    row.inputs.push_back(c.mask);
    row.inputs.push_back(c.past ? std::optional(c.past_k().heads()) : none);
    row.inputs.push_back(c.past ? std::optional(c.past_v().heads()) : none);
    if (!c.lengths.empty()) row.inputs.push_back(list(c.lengths));
    const AttentionNumbers numbers = attended_by_loops(c);
    row.outputs = {form(numbers.output), (c.past ? behind(c.past_k(), c.k()) : c.k()).heads(),
                   (c.past ? behind(c.past_v(), c.v()) : c.v()).heads(), numbers.shown.heads()};
    return row;
}

Numbers truths(Shape shape, std::vector<int64_t> elements) {
    return whole(std::move(shape), std::move(elements), Element::boolean);
}

// A third of the keys are left out, none of them the first.
Numbers some_truths(const Shape &shape) {
    std::vector<int64_t> elements;
    for (int64_t i = 0; i < *element_count(shape); i++) elements.push_back(i % shape.back() == 0 || i % 3 != 0);
    return truths(shape, elements);
}

const std::vector<std::pair<const char *, AttentionCase>> &attention_cases() {
    static const std::vector<std::pair<const char *, AttentionCase>> rows{
        {"plain", {}},
        {"three axes", {.has_three_axes = true}},
        {"groups", {.heads = 6}},
        {"groups of three axes", {.heads = 4, .has_three_axes = true, .is_causal = true}},
        {"one head of keys", {.heads = 3, .kv_heads = 1, .is_causal = true}},
        {"scale", {.scale = 0.125}},
        {"no scale", {.scale = 1}},
        {"softcap", {.softcap = 0.5, .mode = 1}},
        {"softcap with a mask", {.softcap = 0.5, .mode = 2, .mask = block_of({1, 1, 3, 4}, 7).heads()}},
        {"causal", {.is_causal = true, .mode = 2}},
        {"causal of many queries", {.queries = 6, .is_causal = true, .mode = 3}},
        {"past", {.past = 2}},
        {"past of three axes", {.past = 2, .has_three_axes = true, .is_causal = true, .mode = 3}},
        {"mask", {.mask = floats({3, 4}, block_of({1, 1, 3, 4}, 7).elements)}},
        {"mask of heads",
         {.is_causal = true, .mode = 3, .mask = floats({2, 3, 4}, block_of({1, 2, 3, 4}, 7).elements)}},
        {"mask of all", {.past = 1, .mode = 2, .mask = block_of({2, 2, 3, 5}, 7).heads()}},
        {"mask of queries", {.mask = floats({3, 1}, {1, 2, 3})}},
        {"truths", {.mask = some_truths({3, 4})}},
        {"truths of keys", {.mask = truths({4}, {1, 0, 1, 1})}},
        {"truths of a batch", {.is_causal = true, .mode = 2, .mask = some_truths({2, 1, 3, 4})}},
        {"empty rows", {.mode = 3, .mask = truths({3, 4}, {1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0})}},
        {"empty rows, shown", {.mode = 2, .mask = truths({3, 4}, {1, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0})}},
        {"empty by both", {.is_causal = true, .mode = 3, .mask = truths({4}, {0, 0, 1, 1})}},
        {"infinite mask",
         {.softcap = 2,
          .mode = 3,
          .mask = floats({3, 4}, {0, -infinity, 1, 0, -infinity, -infinity, -infinity, -infinity, 0, 0, 0, 0})}},
        {"short mask", {.opset = 24, .mode = 3, .mask = block_of({1, 1, 3, 2}, 7).heads()}},
        {"short truths", {.opset = 24, .mode = 3, .mask = truths({3, 2}, {1, 0, 0, 1, 0, 0})}},
        {"lengths", {.opset = 24, .keys = 5, .mode = 3, .lengths = {2, 5}}},
        {"equal lengths", {.opset = 24, .keys = 5, .lengths = {3, 3}}},
        {"no length", {.opset = 24, .keys = 5, .mode = 3, .lengths = {0, 5}}},
        {"causal lengths", {.opset = 24, .keys = 5, .is_causal = true, .mode = 3, .lengths = {3, 5}}},
        {"shorter than the queries", {.opset = 24, .keys = 5, .is_causal = true, .mode = 3, .lengths = {1, 4}}},
        {"lengths with truths",
         {.opset = 24, .keys = 5, .is_causal = true, .mode = 3, .mask = some_truths({2, 1, 3, 5}), .lengths = {3, 5}}},
        {"windows", {.opset = 25, .keys = 6, .left = 1, .right = 2, .mode = 2}},
        {"causal window", {.opset = 25, .queries = 5, .keys = 6, .is_causal = true, .left = 1, .mode = 3}},
        {"window behind a past", {.opset = 25, .keys = 2, .past = 5, .is_causal = true, .left = 2, .mode = 3}},
        {"window that leaves nothing", {.opset = 25, .queries = 6, .keys = 3, .left = 0, .mode = 3}},
    };
    return rows;
}

TEST(Attention, SoftmaxOverKeys) {
    for (const auto &[name, row] : attention_cases()) {
        SCOPED_TRACE(name);
        expect_outputs(row_of(row));
    }
}

// Masks and the past are known only when the network runs, too.
TEST(Attention, OfComputedMasks) {
    for (const auto &[name, row] : attention_cases()) {
        SCOPED_TRACE(name);
        AttentionCase computed = row;
        computed.network_inputs = 6;
        expect_outputs(row_of(computed));
    }
}

// Where no row can be without keys, nothing asks whether one is. Groups of heads repeat nothing.
TEST(Attention, TakesFewNodes) {
    const auto of = [](const AttentionCase &c) {
        RuleCase row = row_of(c);
        row.outputs.resize(1);
        const auto graph = model_of(row).lowered();
        return graph ? operators(*graph) : graph.error().message;
    };
    EXPECT_EQ(of({.scale = 1}), "transpose matrix_product softmax matrix_product");
    EXPECT_EQ(of({.scale = 1, .is_causal = true}), "transpose matrix_product elementwise softmax matrix_product");
    EXPECT_EQ(of({.scale = 1, .mask = some_truths({3, 4})}),
              "transpose matrix_product elementwise softmax matrix_product");
    // Masked products are scaled, which fuse_elementwise joins with the mask; else queries are.
    EXPECT_EQ(of({}), "transpose elementwise matrix_product softmax matrix_product");
    EXPECT_EQ(of({.is_causal = true}), "transpose matrix_product elementwise elementwise softmax matrix_product");
    EXPECT_EQ(of({.softcap = 2}), "transpose matrix_product elementwise elementwise softmax matrix_product");
    EXPECT_EQ(of({.heads = 6, .scale = 1}),
              "transpose reshape matrix_product reshape softmax reshape matrix_product reshape");
}

// A query that attends nothing gives 0 whatever the numbers of the keys are.
TEST(Attention, EmptyRowsOfNumbersThatAreNotFinite) {
    const Numbers q = floats({1, 1, 2, 1}, {1, 1}), k = floats({1, 1, 2, 1}, {infinity, 1});
    RuleCase row{"Attention", 23, {}, {q, k, floats({1, 1, 2, 1}, {3, 5})}, {floats({1, 1, 2, 1}, {0, 5})}};
    row.inputs.push_back(truths({2, 2}, {0, 0, 0, 1}));
    for (const size_t network_inputs : {3, 4}) {
        row.network_inputs = network_inputs;
        expect_outputs(row);
    }
}

TEST(Attention, OfNarrowFloats) {
    const auto narrow = [](std::vector<double> elements) {
        return floats({1, 1, 2, 1}, std::move(elements), Element::f16);
    };
    expect_outputs({"Attention",
                    23,
                    {integer("softmax_precision", 1)},
                    {narrow({0, 0}), narrow({1, 2}), narrow({1, 3})},
                    {narrow({2, 2})}});
}

TEST(Attention, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const AttentionCase three_axes{.opset = 24, .has_three_axes = true}, plain{.opset = 24},
        past{.opset = 24, .past = 2};
    const std::vector<std::pair<AttentionCase, Bad>> rows{
        {three_axes, {[](RuleCase &row) { row.attributes.erase(row.attributes.begin()); }, "'q_num_heads'"}},
        {three_axes,
         {[](RuleCase &row) { row.attributes[0] = integer("q_num_heads", 3); }, "does not divide into 3 heads"}},
        {three_axes,
         {[](RuleCase &row) {
              row.inputs[0] = counted({2, 3});
          },
          "has neither 3 nor 4 axes"}},
        {plain,
         {[](RuleCase &row) { row.attributes.push_back(integer("q_num_heads", 3)); },
          "'q_num_heads' is 3 for an input of shape 2x2x3x4"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[0] = counted({2, 3, 3, 4});
          },
          "its heads do not fit together"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[2] = counted({2, 2, 5, 4});
          },
          "its heads do not fit together"}},
        {plain,
         {[](RuleCase &row) { row.inputs[1]->form.type = Element::f16; }, "its queries are f32, and its keys f16"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[3] = counted({3, 5});
          },
          "its mask of shape 3x5 does not fit 2x2x3x4"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs[3] = whole({3, 4}, std::vector<int64_t>(12), Element::i32);
          },
          "its mask is i32; kiln takes bool and the type of the queries, f32"}},
        {plain, {[](RuleCase &row) { row.attributes.back() = integer("qk_matmul_output_mode", 4); }, "must be 0 to 3"}},
        {plain,
         {[](RuleCase &row) { row.attributes.push_back(integer("softmax_precision", 7)); },
          "'softmax_precision' is i64"}},
        {plain, {[](RuleCase &row) { row.attributes.push_back(integer("left_window_size", 1)); }, "in opset 24"}},
        {plain,
         {[](RuleCase &row) {
              row.opset = 25;
              row.attributes.push_back(integer("left_window_size", -2));
          },
          "'left_window_size' is -2"}},
        {past, {[](RuleCase &row) { row.inputs[5] = none; }, "it needs both or none"}},
        {past,
         {[](RuleCase &row) {
              row.inputs.push_back(list({1, 2}));
          },
          "of which it takes one"}},
        {plain,
         {[](RuleCase &row) {
              row.inputs.push_back(list({1, 2}));
              row.network_inputs = 7;
          },
          "its input 'nonpad_kv_seqlen' (value 'in6') is known only when the network runs"}},
        {plain, {[](RuleCase &row) { row.inputs.push_back(list({1})); }, "has 1 lengths for a batch of 2"}},
    };
    for (const auto &[c, bad] : rows) {
        SCOPED_TRACE(bad.message);
        RuleCase row = row_of(c);
        bad.change(row);
        expect_refused(model_of(row), bad.message);
    }
}

}  // namespace
}  // namespace kiln::graph
