#include "graph/lower/composed/attention/fused_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/lower/composed/attention/attend.h"
#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

struct Extents {
    int64_t batch = 0, queries = 0, keys = 0;
};

Extents extents_of(const NodeLowering &node, const Heads &heads) {
    check_heads(node, heads);
    const Shape q = node.shape(heads.query);
    return {q[0], q[2], node.shape(heads.key)[2]};
}

// A mask of keys, 1 where they count: one for each batch, or for each query, too, or how many keys of each batch count.
ValueId key_mask(NodeLowering &node, int input, const Extents &extents, Element type) {
    const ValueId mask = node.input(input);
    const Shape shape = node.shape(mask);
    const Element integer = node.type(mask);
    if (is_float(integer) || integer == Element::boolean) reject("its mask is " + std::string(name(integer)));
    const Expression counts = constant(0, type),
                     left_out = constant(node.attributes.real("mask_filter_value", -10000), type);
    const auto added = [&](Expression is_counted, std::vector<ValueId> inputs) {
        return node.elementwise(select(std::move(is_counted), counts, left_out), std::move(inputs));
    };
    const auto given = [&](Shape as) {
        return added(less(constant(0, integer), operand(0)), {node.reshape(mask, std::move(as))});
    };
    if (shape == Shape{extents.batch, extents.keys}) return given({extents.batch, 1, 1, extents.keys});
    if (shape == Shape{extents.batch, extents.queries, extents.keys})
        return given({extents.batch, 1, extents.queries, extents.keys});
    if (shape != Shape{extents.batch}) {
        refuse("its mask has the shape " + to_text(shape) + "; kiln takes masks of " +
               to_text({extents.batch, extents.keys}) + ", of " +
               to_text({extents.batch, extents.queries, extents.keys}) + ", and lengths of " +
               to_text({extents.batch}));
    }
    const ValueId line = node.constant(Numbers{{Element::i32, {extents.keys}}, index_range(0, extents.keys)});
    const Expression length = scalar::cast(operand(1), Element::i32);
    return added(less(operand(0), length), {line, node.reshape(mask, {extents.batch, 1, 1, 1})});
}

// What is added to the products of queries and keys.
std::optional<ValueId> added_mask(NodeLowering &node, int mask, int bias, const Heads &heads) {
    if (!node.has_input(mask)) return node.has_input(bias) ? std::optional(node.input(bias)) : std::nullopt;
    const ValueId keys = key_mask(node, mask, extents_of(node, heads), node.type(heads.query));
    if (!node.has_input(bias)) return keys;
    return node.elementwise(operand(0) + operand(1), {keys, node.input(bias)});
}

AttentionTerms fused_terms(NodeLowering &node, const Heads &heads) {
    const Extents extents = extents_of(node, heads);
    double scale = node.attributes.real("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(node.shape(heads.query)[3], 1)));
    AttentionTerms terms{.heads = heads, .scale = scale, .has_empty_rows = false};
    if (!node.attributes.flag("unidirectional", false)) return terms;
    if (extents.queries != extents.keys) {
        refuse("it is unidirectional, with " + std::to_string(extents.queries) + " queries for " +
               std::to_string(extents.keys) + " keys");
    }
    terms.ranges = key_ranges({.is_causal = true}, extents.queries, extents.keys);
    return terms;
}

void refuse_input(const NodeLowering &node, int input, const char *what) {
    if (node.has_input(input)) refuse("kiln does not compute its input '" + std::string(what) + "'");
}

// The part of the bias from `first` on that belongs to an input of three axes, added to it.
ValueId with_part_of_bias(NodeLowering &node, ValueId x, int64_t first) {
    constexpr int bias = 3;
    if (!node.has_input(bias)) return x;
    const int64_t width = node.shape(x).back();
    const Shape shape = node.shape(node.input(bias));
    if (shape.size() != 1 || shape[0] - first < width)
        reject("its bias of shape " + to_text(shape) + " has no " + std::to_string(width) + " elements from " +
               std::to_string(first) + " on");
    return node.elementwise(operand(0) + operand(1),
                            {x, take(node, node.input(bias), {{0, index_range(first, width)}})});
}

// Keys and values of four axes are heads already, and have no bias.
Heads separate_heads(NodeLowering &node) {
    const int64_t count = node.attributes.integer("num_heads");
    const ValueId query = node.input(0);
    if (node.rank(query) != 3 || !node.has_input(1) || !node.has_input(2))
        refuse("its queries, keys and values are packed in one input; kiln takes three");
    const int64_t width = node.shape(query)[2];
    const auto heads = [&](ValueId x, int64_t first) {
        if (node.rank(x) == 4) return x;
        if (node.rank(x) != 3) reject("its input of shape " + to_text(node.shape(x)) + " has neither 3 nor 4 axes");
        return split_heads(node, with_part_of_bias(node, x, first), count);
    };
    return {heads(query, 0), heads(node.input(1), width), heads(node.input(2), 2 * width)};
}

}  // namespace

void multi_head_attention(NodeLowering &node) {
    constexpr int key_padding_mask = 4, attention_bias = 5, past_key = 6, past_value = 7, first_other = 8;
    const Heads heads = behind_past(node, separate_heads(node), past_key, past_value);
    refuse_input(node, first_other, "past_sequence_length");
    refuse_input(node, first_other + 1, "cache_indirection");
    AttentionTerms terms = fused_terms(node, heads);
    terms.mask = added_mask(node, key_padding_mask, attention_bias, heads);
    const Attended attended = attend(node, terms);
    node.result(join_heads(node, attended.output));
    node.result(heads.key, 1);
    node.result(heads.value, 2);
    node.result(attended.masked, 3);
}

void projected_attention(NodeLowering &node) {
    constexpr int weights = 1, bias = 2, mask = 3, past = 4, attention_bias = 5, past_length = 6;
    refuse_input(node, past, "past");
    refuse_input(node, past_length, "past_sequence_length");
    if (node.attributes.flag("do_rotary", false)) refuse("its attribute 'do_rotary' is set");
    const int64_t count = node.attributes.integer("num_heads");
    ValueId all = node.add(MatrixProduct{}, {node.input(0), node.input(weights)});
    if (node.has_input(bias)) all = node.elementwise(operand(0) + operand(1), {all, node.input(bias)});
    const Shape shape = node.shape(all);
    std::vector<int64_t> widths = node.attributes.integers("qkv_hidden_sizes");
    if (widths.empty()) widths.assign(3, shape.back() / 3);
    const auto is_width = [&](int64_t width) { return width > 0 && width <= shape.back(); };
    if (shape.size() != 3 || widths.size() != 3 || !std::ranges::all_of(widths, is_width) ||
        widths[0] + widths[1] + widths[2] != shape.back()) {
        reject("its weights do not divide into those of queries, keys and values: its product has the shape " +
               to_text(shape));
    }
    const auto part = [&](int64_t first, int64_t width) {
        return split_heads(node, take(node, all, {{2, index_range(first, width)}}), count);
    };
    const Heads heads{part(0, widths[0]), part(widths[0], widths[1]), part(widths[0] + widths[1], widths[2])};
    AttentionTerms terms = fused_terms(node, heads);
    terms.mask = added_mask(node, mask, attention_bias, heads);
    node.result(join_heads(node, attend(node, terms).output));
}

}  // namespace kiln::graph
