// Grows a graph; a node whose inputs are all constants is computed at once, so that chains of Shape, Gather, Concat and the
// like vanish.
//
// Beyond the bounds a node stays a node, and what must be listed is refused. Constants that are dequantized stay as they are
// stored: passes compute with the integers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/evaluate/evaluate.h"
#include "graph/graph.h"
#include "graph/lower/node/folding_bounds.h"

namespace kiln::graph {

class FoldingBuilder {
public:
    FoldingBuilder(Graph graph, const FoldingBounds &bounds) : builder_(std::move(graph)), left_(bounds) {}

    ValueId input(std::string name, TypedShape form) { return builder_.input(std::move(name), std::move(form)); }
    ValueId constant(std::string name, TypedShape form, ConstantData data);  // of the model
    Result<ValueId> constant(std::string name, const Numbers &numbers);      // computed, so it counts
    Status check_room(int64_t elements) const;                               // whether such a constant still fits
    Result<ValueId> node(Operator op, std::vector<ValueId> inputs, std::string name, std::vector<std::string> origins);
    void output(std::string name, ValueId value) { builder_.output(std::move(name), value); }

    const Value &value(ValueId id) const { return builder_.value(id); }  // valid until the next value
    // The elements of a value that is known now: of a constant, or of one that is dequantized. Nothing where it is neither, or where
    // the model reads more than the bounds allow.
    std::optional<Numbers> known(ValueId id);
    bool is_known(ValueId id) const { return value(id).constant.has_value() || kept_.count(id) > 0; }
    // The inputs that a value depends on. Looks at a few thousand nodes in all, since only the first messages are shown.
    std::vector<ValueId> inputs_behind(ValueId id);
    Graph finish() && { return std::move(builder_).finish(); }

private:
    Status count_indices(const Operator &op);
    bool are_constants(const std::vector<ValueId> &ids) const;
    bool may_fold(const Operator &op, const std::vector<ValueId> &inputs, const std::vector<TypedShape> &forms,
                  const Shape &result);
    Result<ConstantData> fold(const Operator &op, const std::vector<ValueId> &inputs) const;

    GraphBuilder builder_;
    FoldingBounds left_;
    int64_t left_to_look_at_ = 1 << 14;         // nodes, by inputs_behind()
    std::unordered_map<ValueId, size_t> kept_;  // values of constants that passes shall compute: their nodes
    // Constants that were transposed: an unrolled model transposes the same weights at each step.
    std::map<std::pair<ValueId, std::vector<int>>, ValueId> transposed_;
};

}  // namespace kiln::graph
