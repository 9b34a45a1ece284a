#include "graph/lower/composed/attention/linear_attention.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/lower/node/formulas.h"
#include "graph/lower/node/indices.h"
#include "graph/lower/node/refusal.h"
#include "graph/lower/node/repetitions.h"
#include "graph/lower/node/shown_names.h"

namespace kiln::graph {
namespace {

struct LinearInput {
    enum Index { query, key, value, past, decay, beta };
    static constexpr std::string_view names[] = {"query", "key", "value", "past_state", "decay", "beta"};
};

// How a step changes the state. What is left of it is state * exp(decay), or all; added to that is key * value, or
// beta * key * (value - what is left for the key).
struct UpdateRule {
    std::string_view name;
    bool has_decay, has_beta;
};

constexpr UpdateRule update_rules[] = {
    {"linear", false, false},
    {"gated", true, false},
    {"delta", false, true},
    {"gated_delta", true, true},
};

const UpdateRule &stated_update_rule(const NodeLowering &node) {
    const std::string stated = node.attributes.text("update_rule", "gated_delta");
    const auto found = std::ranges::find(update_rules, stated, &UpdateRule::name);
    if (found == std::end(update_rules)) {
        reject("its attribute 'update_rule' is " + shown(stated) +
               ", which must be linear, gated, delta or gated_delta");
    }
    return *found;
}

struct LinearHeads {
    int64_t batch = 0, steps = 0;
    int64_t heads = 0;  // of keys, values and the state
    int64_t group = 0;  // queries that read one of them
    int64_t key_features = 0, value_features = 0;
};

std::string input_text(const NodeLowering &node, LinearInput::Index input) {
    return "its input " + shown(LinearInput::names[input]) + " of shape " + to_text(node.shape(node.input(input)));
}

void check_linear_types(const NodeLowering &node) {
    const Element type = node.type(node.input(LinearInput::query));
    if (!is_float(type)) refuse("its queries are " + std::string(name(type)));
    for (int i = LinearInput::key; i <= LinearInput::beta; i++) {
        if (!node.has_input(i)) continue;
        const Element other = node.type(node.input(i));
        if (i == LinearInput::past ? is_float(other) : other == type) continue;
        reject("its input " + shown(LinearInput::names[i]) + " is " + std::string(name(other)) + ", and its queries " +
               std::string(name(type)));
    }
}

int64_t features_of_head(const NodeLowering &node, LinearInput::Index input, int64_t heads) {
    const Shape shape = node.shape(node.input(input)), queries = node.shape(node.input(LinearInput::query));
    if (shape.size() != 3) reject(input_text(node, input) + " has not the axes of batch, steps and features");
    if (shape[0] != queries[0] || shape[1] != queries[1])
        reject(input_text(node, input) + " has another batch or other steps than its queries of " + to_text(queries));
    if (shape[2] % heads != 0)
        reject(input_text(node, input) + " does not divide into " + std::to_string(heads) + " heads");
    return shape[2] / heads;
}

// Decays and rates are one for each head, or as many as `other` says.
void check_factors(const NodeLowering &node, LinearInput::Index input, const LinearHeads &heads, int64_t other) {
    const Shape shape = node.shape(node.input(input));
    const Shape by_head{heads.batch, heads.steps, heads.heads}, otherwise{heads.batch, heads.steps, other};
    if (shape != by_head && shape != otherwise)
        reject(input_text(node, input) + " is neither " + to_text(by_head) + " nor " + to_text(otherwise));
}

void check_further_inputs_of(const NodeLowering &node, const LinearHeads &heads, const UpdateRule &rule) {
    for (const auto &[input, is_needed] :
         {std::pair(LinearInput::decay, rule.has_decay), std::pair(LinearInput::beta, rule.has_beta)}) {
        if (node.has_input(input) == is_needed) continue;
        reject("its attribute 'update_rule' is " + shown(rule.name) + ", which " + (is_needed ? "needs" : "has no") +
               " input " + shown(LinearInput::names[input]));
    }
    if (rule.has_decay) check_factors(node, LinearInput::decay, heads, heads.heads * heads.key_features);
    if (rule.has_beta) check_factors(node, LinearInput::beta, heads, 1);
    const Shape state{heads.batch, heads.heads, heads.key_features, heads.value_features};
    if (node.has_input(LinearInput::past) && node.shape(node.input(LinearInput::past)) != state)
        reject(input_text(node, LinearInput::past) + " is not " + to_text(state));
}

LinearHeads linear_heads(const NodeLowering &node, const UpdateRule &rule) {
    check_linear_types(node);
    const int64_t queries = node.attributes.integer("q_num_heads"), keys = node.attributes.integer("kv_num_heads");
    if (keys < 1 || queries < 1 || queries % keys != 0) {
        reject("its attribute 'q_num_heads' is " + std::to_string(queries) + ", and 'kv_num_heads' " +
               std::to_string(keys) + "; needs a multiple of it");
    }
    LinearHeads heads{.heads = keys, .group = queries / keys};
    heads.key_features = features_of_head(node, LinearInput::query, queries);
    const int64_t features = features_of_head(node, LinearInput::key, keys);
    if (features != heads.key_features) {
        reject("its queries have " + std::to_string(heads.key_features) + " features a head, and its keys " +
               std::to_string(features));
    }
    heads.value_features = features_of_head(node, LinearInput::value, keys);
    const Shape shape = node.shape(node.input(LinearInput::query));
    heads.batch = shape[0], heads.steps = shape[1];
    check_further_inputs_of(node, heads, rule);
    if (checked_count(shape) == 0 || heads.value_features == 0) refuse("its sequence or its state is empty");
    check_steps_of_sequence(heads.steps);
    return heads;
}

// What does not depend on the state is computed for all steps at once. The first axis is that of the steps, so that the
// part of a step lies in one piece.
class LinearRecurrence {
public:
    LinearRecurrence(NodeLowering *node, const LinearHeads &heads, const UpdateRule &rule)
        : node_(*node), heads_(heads), rule_(rule), type_(type_of_sums()) {
        query_ = sequence(LinearInput::query, heads.heads * heads.group);
        const double stated = node_.attributes.real("scale", 0);
        const double scale = stated == 0 ? 1 / std::sqrt(static_cast<double>(heads.key_features)) : stated;
        if (scale != 1) query_ = node_.elementwise(operand(0) * constant(scale, type_), {query_});
        value_ = sequence(LinearInput::value, heads.heads);
        read_ = written_ = sequence(LinearInput::key, heads.heads);
        if (rule.has_decay)
            kept_ = node_.elementwise(exponential(operand(0)), {sequence(LinearInput::decay, heads.heads)});
        if (!rule.has_beta) return;
        const ValueId beta = sequence(LinearInput::beta, node_.shape(node_.input(LinearInput::beta))[2]);
        written_ = node_.elementwise(operand(0) * operand(1), {written_, beta});
        // The state is multiplied by the decay before the key reads it: its rows are those of the key.
        if (rule.has_decay) read_ = node_.elementwise(operand(0) * operand(1), {read_, kept_});
    }

    // The past; none stands for zeros.
    std::optional<ValueId> initial_state() const {
        if (!node_.has_input(LinearInput::past) || node_.is_known_zero(node_.input(LinearInput::past))) return {};
        return node_.converted(node_.input(LinearInput::past), type_);
    }

    ValueId next_state(int64_t t, const std::optional<ValueId> &state) const {
        const ValueId column = of_step(written_, t, heads_.heads, heads_.key_features, 1);
        const ValueId row = of_step(value_, t, heads_.heads, 1, heads_.value_features);
        if (!state) return node_.elementwise(operand(0) * operand(1), {column, row});
        std::vector<ValueId> inputs{*state, column, row};
        Expression kept = operand(0), added = operand(2);
        if (rule_.has_beta) {
            const ValueId key = of_step(read_, t, heads_.heads, 1, heads_.key_features);
            inputs.push_back(node_.add(MatrixProduct{}, {key, *state}));
            added = added - operand(3);
        }
        if (rule_.has_decay) {
            kept = kept * operand(static_cast<int>(inputs.size()));
            inputs.push_back(of_step(kept_, t, heads_.heads, node_.shape(kept_)[3], 1));
        }
        return node_.elementwise(kept + operand(1) * added, inputs);
    }

    // Its shape is 1 x batch x features of all queries.
    ValueId output(int64_t t, ValueId state) const {
        const ValueId rows = of_step(query_, t, heads_.heads, heads_.group, heads_.key_features);
        return node_.reshape(node_.add(MatrixProduct{}, {rows, state}),
                             {1, heads_.batch, heads_.heads * heads_.group * heads_.value_features});
    }

private:
    Element type_of_sums() const {
        Element widest = Element::f32;
        for (const LinearInput::Index input : {LinearInput::query, LinearInput::past}) {
            if (node_.has_input(input) && node_.type(node_.input(input)) == Element::f64) widest = Element::f64;
        }
        return widest;
    }

    // The input of batch x steps x heads * features becomes steps x batch x heads x features.
    ValueId sequence(LinearInput::Index input, int64_t heads) const {
        const ValueId x = node_.transpose(node_.converted(node_.input(input), type_), {1, 0, 2});
        return node_.reshape(x, {heads_.steps, heads_.batch, heads, node_.shape(x)[2] / heads});
    }

    // Its shape is batch x heads x rows x columns.
    ValueId of_step(ValueId all, int64_t t, int64_t heads, int64_t rows, int64_t columns) const {
        return node_.reshape(take(node_, all, {{0, {t}}}), {heads_.batch, heads, rows, columns});
    }

    NodeLowering &node_;
    const LinearHeads &heads_;
    const UpdateRule &rule_;
    const Element type_;
    ValueId query_ = 0, value_ = 0;
    ValueId read_ = 0, written_ = 0;  // keys as they read the state, and as they are written into it
    ValueId kept_ = 0;                // the share of each row of the state, or of all of them
};

}  // namespace

void linear_attention(NodeLowering &node) {
    const UpdateRule &rule = stated_update_rule(node);
    const LinearHeads heads = linear_heads(node, rule);
    const LinearRecurrence recurrence(&node, heads, rule);
    std::optional<ValueId> state = recurrence.initial_state();
    std::vector<ValueId> outputs;
    for (int64_t t = 0; t < heads.steps; t++) {
        state = recurrence.next_state(t, state);
        if (node.wants(0)) outputs.push_back(recurrence.output(t, *state));
    }
    const Element type = node.type(node.input(LinearInput::query));
    if (node.wants(0)) {
        const ValueId all = outputs.size() == 1 ? outputs[0] : node.add(Concat{0}, std::move(outputs));
        node.result(node.converted(node.transpose(all, {1, 0, 2}), type));
    }
    const bool has_past = node.has_input(LinearInput::past);
    node.result(node.converted(*state, has_past ? node.type(node.input(LinearInput::past)) : type), 1);
}

}  // namespace kiln::graph
