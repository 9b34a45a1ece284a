#include "graph/lower/composed/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "graph/lower/composed/attention/attend.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"

namespace kiln::graph {
namespace {

struct In {
    enum Index { query, key, value, mask, past_key, past_value, lengths };
};
struct Out {
    enum Index { output, present_key, present_value, products };
};

// Of three axes, the attribute `heads` says how many the last one has.
ValueId heads_of(NodeLowering &node, In::Index input, const char *heads) {
    const ValueId x = node.input(input);
    if (node.rank(x) == 3) return split_heads(node, x, node.attributes.integer(heads));
    if (node.rank(x) != 4) reject("its input of shape " + to_text(node.shape(x)) + " has neither 3 nor 4 axes");
    const int64_t held = node.shape(x)[1], stated = node.attributes.integer(heads, held);
    if (stated != held) {
        reject("its attribute '" + std::string(heads) + "' is " + std::to_string(stated) + " for an input of shape " +
               to_text(node.shape(x)));
    }
    return x;
}

// From opset 24 on a mask may end before the last keys, which then are not attended.
ValueId padded_mask(NodeLowering &node, int64_t keys) {
    const ValueId mask = node.input(In::mask);
    const Shape shape = node.shape(mask);
    if (node.opset() < 24 || shape.empty() || shape.back() >= keys) return mask;
    std::vector<int64_t> places = index_range(0, shape.back());
    check_places(keys);
    places.resize(static_cast<size_t>(keys), Resample::outside);
    const double fill = is_float(node.type(mask)) ? -std::numeric_limits<double>::infinity() : 0;
    return take(node, mask, {{node.rank(mask) - 1, std::move(places)}}, fill);
}

Reach reach_of(const NodeLowering &node, int64_t batch) {
    const auto window = [&](const char *side) {
        const int64_t count = node.attributes.integer(side, -1);
        if (count < -1) reject("its attribute '" + std::string(side) + "' is " + std::to_string(count));
        return count;
    };
    Reach reach{.is_causal = node.attributes.flag("is_causal", false),
                .left = window("left_window_size"),
                .right = window("right_window_size")};
    if (node.has_input(In::past_key)) reach.past = node.shape(node.input(In::past_key))[2];
    if (!node.has_input(In::lengths)) return reach;
    reach.lengths = node.known_integers(In::lengths, "nonpad_kv_seqlen");
    if (static_cast<int64_t>(reach.lengths.size()) != batch) {
        reject("its input 'nonpad_kv_seqlen' has " + std::to_string(reach.lengths.size()) + " lengths for a batch of " +
               std::to_string(batch));
    }
    return reach;
}

void check_inputs(const NodeLowering &node) {
    if (node.has_input(In::past_key) && node.has_input(In::lengths))
        reject("it has the inputs 'nonpad_kv_seqlen' and 'past_key', of which it takes one");
    const Element q = node.type(node.input(In::query)), k = node.type(node.input(In::key));
    if (q != k) reject("its queries are " + std::string(name(q)) + ", and its keys " + std::string(name(k)));
    const Element precision = node.attributes.type("softmax_precision", Element::f32);
    if (!is_float(precision)) reject("its attribute 'softmax_precision' is " + std::string(name(precision)));
}

ValueId shown_products(NodeLowering &node, const Attended &attended) {
    switch (const int64_t mode = node.attributes.integer("qk_matmul_output_mode", 0)) {
        case 0:
            return attended.products;
        case 1:
            return attended.capped;
        case 2:
            return attended.masked;
        case 3:
            return attended.weights(node);
        default:
            reject("its attribute 'qk_matmul_output_mode' is " + std::to_string(mode) + ", which must be 0 to 3");
    }
}

}  // namespace

void attention(NodeLowering &node) {
    check_inputs(node);
    const Element type = node.type(node.input(In::query)), value_type = node.type(node.input(In::value));
    node.compute_in_f32({type, type, value_type, type});  // values and a mask may have types of their own
    const bool has_three_axes = node.rank(node.input(In::query)) == 3;
    const Heads own{heads_of(node, In::query, "q_num_heads"), heads_of(node, In::key, "kv_num_heads"),
                    heads_of(node, In::value, "kv_num_heads")};
    const Heads heads = behind_past(node, own, In::past_key, In::past_value);
    check_heads(node, heads);
    const Shape q = node.shape(heads.query);
    const int64_t keys = node.shape(heads.key)[2];
    const double features = static_cast<double>(std::max<int64_t>(q[3], 1));
    AttentionTerms terms{.heads = heads,
                         .scale = node.attributes.real("scale", 1 / std::sqrt(features)),
                         .softcap = node.attributes.real("softcap", 0),
                         .ranges = key_ranges(reach_of(node, q[0]), q[2], keys)};
    if (node.has_input(In::mask)) terms.mask = padded_mask(node, keys);
    const Attended attended = attend(node, terms);
    node.result(has_three_axes ? join_heads(node, attended.output) : attended.output, Out::output);
    node.result(heads.key, Out::present_key);
    node.result(heads.value, Out::present_value);
    if (node.wants(Out::products)) node.result(shown_products(node, attended), Out::products);
}

}  // namespace kiln::graph
