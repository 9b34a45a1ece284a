// What is computed of a value element by element, as steps of a convolution: of its epilogue where the value is its result, of its
// prologue where it is its input.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/rewriting/expression_tree.h"
#include "workload/epilogue/step.h"

namespace kiln::graph {

constexpr size_t most_value_steps =
    8;  // of one epilogue or prologue: a package's descriptor holds no more (KILN_MAX_EPILOGUE)

// Steps in their order, each with the value that it reads, or -1.
struct ValueSteps {
    std::vector<EpilogueStep> steps;
    std::vector<ValueId> inputs;
    // Of sums of products. A bound at the largest finite number, with which models say that there is none, is no step there: it bounds
    // what overflowed, and infinities of the operands. Of other values there are no steps with such a bound.
    bool of_sums = false;

    void push(EpilogueStep step, ValueId input = -1);
    bool has(EpilogueStep::Kind kind) const;
};

using ShapeOf = std::function<const Shape &(ValueId)>;

// The steps that make a term (graph/rewriting/value_terms.h) of a value, behind those that it is already the result of; none
// where there are no such steps. At most one step of each kind that has an operand: a number for each channel (axis 1), or, of
// `add`, a tensor of the value's shape.
std::optional<ValueSteps> steps_of(const Term &term, ValueId value, const ShapeOf &shape_of, ValueSteps behind = {});

}  // namespace kiln::graph
