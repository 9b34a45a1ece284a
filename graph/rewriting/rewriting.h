// The frame of a pass: the nodes of a graph are visited in order while a new graph grows, and a rule may put something else in
// the place of a node. It sees what the nodes before have become, so matches look from a node back to its operands.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/graph.h"

namespace kiln::graph {

class Rewriting {
public:
    // `left_steps`: that constants may take to compute (graph/evaluate/evaluation_steps.h); what is used is taken off.
    Rewriting(const Graph &before, int64_t *left_steps);

    const Value &value(ValueId id) const { return builder_.value(id); }
    const Shape &shape(ValueId id) const { return value(id).form.shape; }
    bool is_constant(ValueId id) const { return value(id).constant.has_value(); }
    Numbers numbers(ValueId id) const { return from_constant(value(id).form, *value(id).constant); }  // of a constant

    // What computes a value; null for inputs and constants. Adding a node makes the pointers invalid.
    const Node *producer(ValueId id) const;
    template<typename Op>
    const Op *computed_by(ValueId id) const {
        const Node *node = producer(id);
        return node ? std::get_if<Op>(&node->op) : nullptr;
    }

    // How often the nodes of the graph before, and its outputs, read what became this value. 1 for a value in between.
    int uses(ValueId id) const;

    // The nodes of the graph before that read it, with the ids of that graph, once for each input that it is.
    std::span<const Node *const> readers(ValueId id) const;

    // Whether the node that is visited computes what is quantized behind it, with nothing but element-wise nodes and what moves
    // elements in between.
    bool is_quantized_behind(const Node &visited) const { return is_quantized_behind_[visited.output]; }

    // Adds a node. A value in between is named after the node that is visited, and the last one, which takes its place, has
    // its name. `absorbed` are values that the new node computes as well, so that it gets their origins. What depends on
    // constants alone is computed at once, unless that makes much of little, or all of it would take too long: a model decides how
    // much there is. What dequantizes constants stays for the passes that look for it, and is computed by `fold_dequantized`.
    ValueId between(Operator op, std::vector<ValueId> inputs);
    ValueId result(Operator op, std::vector<ValueId> inputs, std::initializer_list<ValueId> absorbed = {});
    ValueId constant(const Numbers &numbers);
    ValueId constant(const TypedShape &form, ConstantData data);

private:
    friend class Sweep;
    ValueId emit(Operator op, std::vector<ValueId> inputs, std::string name, std::vector<std::string> origins);
    std::optional<ValueId> folded(const Operator &op, const std::vector<ValueId> &inputs, const std::string &name);

    GraphBuilder builder_;
    int64_t *left_steps_;
    std::vector<int> uses_;                           // by new value; 0: nothing became it yet
    std::vector<std::vector<const Node *>> readers_;  // by new value
    std::vector<bool> is_quantized_behind_;           // by value of the graph before
    std::vector<int> producer_;                       // by new value: index of its node, or -1
    std::string name_;                                // of the node that is visited
    std::vector<std::string> origins_;
    bool has_failed_ = false;  // an operator was refused: the rule's result does not count
};

// Returns what takes the place of a node, whose inputs are values of the new graph, or nothing where the rule does not
// apply. Its result must have the form of the node's output.
using Rule = std::function<std::optional<ValueId>(Rewriting &, const Node &node)>;

// Sweeps over the graph until the rule applies nowhere. Each application of a rule must come nearer to an end.
Graph rewrite(const Graph &graph, const Rule &rule);

// The same in which the rule sees every node only once: for rules that would apply to their own results.
Graph rewrite_once(const Graph &graph, const Rule &rule);

}  // namespace kiln::graph
