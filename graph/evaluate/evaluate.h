// A graph computed by plain loops in double: what constants are folded with, and the reference that every kernel of a network
// is judged by. It is right and slow.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// Elements in row-major order: doubles for the floating types, integers for the others. Results are not rounded to the
// type between operators; round_to_type() does that.
struct Numbers {
    TypedShape form;
    std::variant<std::vector<double>, std::vector<int64_t>> elements;
    bool operator==(const Numbers &) const = default;
};

Numbers from_constant(const TypedShape &form, const ConstantData &data);
ConstantData to_constant(const Numbers &numbers);  // rounds to nearest, ties to even; integers saturate
Numbers round_to_type(Numbers numbers);

// The result of one operator, or the error of result_of(). What would take more than `most_elements_at_once` elements of memory is an
// error too.
Result<Numbers> evaluate(const Operator &op, const std::vector<const Numbers *> &inputs);

struct EvaluationOptions {
    std::function<bool()> interrupted = [] { return false; };         // asked between operators and rows of large ones
    std::function<void(ValueId, const Numbers &)> observe = nullptr;  // every value as soon as it is known
};

// The outputs of a graph in their order. `inputs` in the order of Graph::inputs; forms must be equal.
Result<std::vector<Numbers>> evaluate(const Graph &graph, const std::vector<Numbers> &inputs,
                                      const EvaluationOptions &options = {});

}  // namespace kiln::graph
