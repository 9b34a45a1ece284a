// The forms of attention of the domain com.microsoft, against the loops of ONNX's.
#include <algorithm>
#include <functional>

#include "tests/graph/lower/attention/attention_cases.h"

namespace kiln::graph {
namespace {

Numbers minus(Numbers x, const std::vector<double> &last_axis) {
    size_t i = 0;
    for (double &element : std::get<0>(x.elements)) element -= last_axis[i++ % last_axis.size()];
    return x;
}

// A bias of so many numbers from place `first` on.
std::vector<double> bias_part(int64_t first, int64_t count) {
    const std::vector<double> all = block_of({1, 1, 1, 64}, 9).elements;
    return {all.begin() + first, all.begin() + first + count};
}

// What a mask of integers adds.
Numbers added_by(const std::vector<int64_t> &mask, Shape shape, double left_out = -10000) {
    std::vector<double> added;
    for (const int64_t counts : mask) added.push_back(counts > 0 ? 0 : left_out);
    return floats(std::move(shape), added);
}

Numbers words(Shape shape, std::vector<int64_t> elements) {
    return whole(std::move(shape), std::move(elements), Element::i32);
}

AttentionCase of_three_axes(std::optional<Numbers> mask) { return {.has_three_axes = true, .mask = std::move(mask)}; }

// MultiHeadAttention of such heads, with a bias. The mask of `c` comes in by inputs of its own.
RuleCase multi_head(const AttentionCase &c, std::optional<Numbers> key_mask, std::optional<Numbers> added) {
    const int64_t width = c.heads * c.features, width_of_values = c.heads * c.value_features;
    RuleCase row{"MultiHeadAttention", 1, {integer("num_heads", c.heads)}, {}, {attended_by_loops(c).output.joined()}};
    row.domain = "com.microsoft";
    row.inputs = {minus(c.q().joined(), bias_part(0, width)),
                  minus(c.k().joined(), bias_part(width, width)),
                  minus(c.v().joined(), bias_part(2 * width, width_of_values)),
                  line(bias_part(0, 2 * width + width_of_values)),
                  std::move(key_mask),
                  std::move(added)};
    return row;
}

TEST(FusedAttention, OfSeparateInputs) {
    const Numbers added = block_of({1, 2, 3, 4}, 7).heads();
    const std::vector<int64_t> mask{1, 0, 1, 1, 1, 1, 0, 0}, other{2, 0, 1, 1, 1, 1, -1, 0};
    std::vector<int64_t> of_queries;
    for (int64_t i = 0; i < 24; i++) of_queries.push_back(i % 4 == 0 || i % 3 == 0);
    const std::vector<RuleCase> rows{
        multi_head(of_three_axes(none), none, none),
        multi_head(of_three_axes(added), none, added),
        multi_head(of_three_axes(added_by(mask, {2, 1, 1, 4})), words({2, 4}, mask), none),
        multi_head(of_three_axes(added_by(other, {2, 1, 1, 4})), words({2, 4}, other), none),
        multi_head(of_three_axes(added_by({1, 1, 1, 0, 1, 0, 0, 0}, {2, 1, 1, 4})), words({2}, {3, 1}), none),
        multi_head(of_three_axes(added_by(of_queries, {2, 1, 3, 4})), words({2, 3, 4}, of_queries), none),
    };
    for (RuleCase row : rows) {
        for (const size_t network_inputs : {1, 6}) {
            row.network_inputs = network_inputs;
            expect_outputs(row);
        }
    }
}

TEST(FusedAttention, WithNumbersOfItsOwn) {
    AttentionCase c = of_three_axes(added_by({1, 0, 1, 1, 1, 1, 0, 0}, {2, 1, 1, 4}, -2));
    c.scale = 0.25;
    RuleCase row = multi_head(c, words({2, 4}, {1, 0, 1, 1, 1, 1, 0, 0}), none);
    row.attributes.push_back(real("scale", 0.25F));
    row.attributes.push_back(real("mask_filter_value", -2));
    expect_outputs(row);
    // Causal, and masks are added up.
    const Numbers added = block_of({2, 2, 4, 4}, 7).heads();
    AttentionCase square = of_three_axes(added);
    square.queries = 4, square.is_causal = true;
    row = multi_head(square, words({2}, {4, 4}), added);
    row.attributes.push_back(integer("unidirectional", 1));
    expect_outputs(row);
}

// Keys and values may be heads already, which have no bias; past ones stand before them, and all are outputs.
TEST(FusedAttention, OfHeadsAndAPast) {
    AttentionCase c = of_three_axes(none);
    RuleCase row = multi_head(c, none, none);
    row.inputs[1] = c.k().heads(), row.inputs[2] = c.v().heads();
    expect_outputs(row);
    c.past = 2;
    row = multi_head(c, none, none);
    row.inputs.push_back(c.past_k().heads());
    row.inputs.push_back(c.past_v().heads());
    row.outputs.push_back(behind(c.past_k(), c.k()).heads());
    row.outputs.push_back(behind(c.past_v(), c.v()).heads());
    expect_outputs(row);
}

// Attention whose weights only tell queries, keys and values apart.
RuleCase projected(const AttentionCase &c, std::optional<Numbers> mask, std::optional<Numbers> added) {
    const std::vector<Numbers> parts{c.q().joined(), c.k().joined(), c.v().joined()};
    std::vector<int64_t> widths;
    for (const Numbers &part : parts) widths.push_back(part.form.shape[2]);
    const int64_t width = widths[0] + widths[1] + widths[2], places = c.batch * c.queries;
    std::vector<double> x, identity(static_cast<size_t>(width * width));
    for (int64_t place = 0; place < places; place++) {
        for (size_t i = 0; i < parts.size(); i++) {
            const auto first = std::get<0>(parts[i].elements).begin() + place * widths[i];
            x.insert(x.end(), first, first + widths[i]);
        }
    }
    for (int64_t i = 0; i < width; i++) identity[static_cast<size_t>(i * width + i)] = 1;
    const std::vector<double> bias = bias_part(0, width);
    RuleCase row{"Attention", 1, {integer("num_heads", c.heads), integers("qkv_hidden_sizes", widths)}, {}, {}};
    row.domain = "com.microsoft";
    row.inputs = {minus(floats({c.batch, c.queries, width}, x), bias),
                  floats({width, width}, identity),
                  line(bias),
                  std::move(mask),
                  none,
                  std::move(added)};
    row.outputs = {attended_by_loops(c).output.joined()};
    return row;
}

TEST(FusedAttention, OfAProjectedInput) {
    AttentionCase c = of_three_axes(none);
    c.queries = 4;
    expect_outputs(projected(c, none, none));
    c.value_features = c.features;
    RuleCase equal = projected(c, none, none);
    equal.attributes.pop_back();
    expect_outputs(equal);
    c.is_causal = true;
    RuleCase causal = projected(c, none, none);
    causal.attributes.push_back(integer("unidirectional", 1));
    expect_outputs(causal);
    c.is_causal = false;
    c.mask = added_by({1, 1, 1, 0, 1, 0, 0, 0}, {2, 1, 1, 4});
    expect_outputs(projected(c, words({2}, {3, 1}), none));
    c.mask = block_of({1, 2, 4, 4}, 7).heads();
    expect_outputs(projected(c, none, c.mask));
}

TEST(FusedAttention, Refused) {
    struct Bad {
        std::function<void(RuleCase &)> change;
        std::string message;
    };
    const RuleCase separate = multi_head(of_three_axes(none), none, none);
    AttentionCase square = of_three_axes(none);
    square.queries = 4;
    const RuleCase one = projected(square, none, none);
    const std::vector<std::pair<RuleCase, Bad>> rows{
        {separate, {[](RuleCase &row) { row.inputs.resize(1); }, "are packed in one input"}},
        {separate, {[](RuleCase &row) { row.attributes[0] = integer("num_heads", 3); }, "divide into 3 heads"}},
        {separate,
         {[](RuleCase &row) { row.inputs[2] = counted({}); }, "its input of shape scalar has neither 3 nor 4 axes"}},
        {separate,
         {[](RuleCase &row) { row.attributes.push_back(integer("unidirectional", 1)); },
          "it is unidirectional, with 3 queries for 4 keys"}},
        {separate, {[](RuleCase &row) { row.inputs[3] = counted({20}); }, "has no 6 elements from 16 on"}},
        {separate,
         {[](RuleCase &row) {
              row.inputs[4] = words({8}, {4, 4, 4, 4, 0, 0, 0, 0});
          },
          "its mask has the shape 8"}},
        {separate,
         {[](RuleCase &row) {
              row.inputs[4] = counted({2, 4});
          },
          "its mask is f32"}},
        {separate,
         {[](RuleCase &row) {
              row.inputs[5] = counted({2, 4});
          },
          "its mask of shape 2x4 does not fit"}},
        {separate,
         {[](RuleCase &row) {
              row.inputs.push_back(counted({2, 2, 1, 4}));
          },
          "it needs both or none"}},
        {separate,
         {[](RuleCase &row) {
              row.inputs.insert(row.inputs.end(), 2, none);
              row.inputs.push_back(words({1}, {0}));
          },
          "its input 'past_sequence_length'"}},
        {one,
         {[](RuleCase &row) {
              row.attributes.back() = integers("qkv_hidden_sizes", {8, 8, 8});
          },
          "do not divide"}},
        {one,
         {[](RuleCase &row) {
              row.inputs[4] = counted({2, 2, 2, 1, 4});
          },
          "its input 'past'"}},
        {one, {[](RuleCase &row) { row.attributes.push_back(integer("do_rotary", 1)); }, "'do_rotary'"}},
    };
    for (const auto &[row, bad] : rows) {
        SCOPED_TRACE(bad.message);
        RuleCase changed = row;
        bad.change(changed);
        expect_refused(model_of(changed), bad.message);
    }
}

}  // namespace
}  // namespace kiln::graph
