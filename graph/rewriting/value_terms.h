// Expressions over the values of a graph: the number of an operand is the id of a value. So the expression of a node and those
// of the nodes before it can be put into each other.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "graph/rewriting/expression_tree.h"
#include "graph/rewriting/rewriting.h"

namespace kiln::graph {

// Precondition: an Elementwise computes the node's output. `types` are those of its inputs.
Term term_of(const Node &node, std::span<const Element> types);
Term term_of(const Rewriting &graph, const Node &node);

// A value as a term: what an Elementwise computes it with, or the value itself.
Term term_of(const Rewriting &graph, ValueId id);

Term value_term(const Rewriting &graph, ValueId id);
std::vector<ValueId> values_in(const Term &term);  // ascending
Term replaced(Term term, ValueId id, const Term &by);

// The operator that computes a term and its inputs.
std::pair<Elementwise, std::vector<ValueId>> to_elementwise(Term term, const Shape &shape);

}  // namespace kiln::graph
