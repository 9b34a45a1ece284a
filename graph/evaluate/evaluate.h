// A graph computed by plain loops in double: what constants are folded with, and the reference that every kernel of a network
// is judged by. It is right and slow.
//
// Elements of every floating type are doubles, and results are not rounded to the type between operators; only a cast rounds,
// and each step of f32 where an element-wise operator makes quanta of floats. NaN spreads: a minimum, a maximum, a clamp of NaN
// is NaN. Integers are int64_t and wrap around in their type as in two's complement. What C leaves open has a value here: an
// integer divided by 0 is 0, and so is the remainder; 0 to a negative power is 0; a cast of a float to an integer saturates,
// and NaN becomes 0. u64 is right below 2^63.
#pragma once

#include <cstdint>
#include <functional>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace kiln::graph {

// Elements in row-major order: doubles for the floating types, integers for the others. round_to_type() rounds them.
struct Numbers {
    TypedShape form;
    std::variant<std::vector<double>, std::vector<int64_t>> elements;
    bool operator==(const Numbers &) const = default;
};

Numbers from_constant(const TypedShape &form, const ConstantData &data);
ConstantData to_constant(const Numbers &numbers);  // rounds to nearest, ties to even; integers saturate
Numbers round_to_type(Numbers numbers);

// The most elements that a value may have here: 2 GiB of doubles.
inline constexpr int64_t most_elements_at_once = int64_t{1} << 28;

using Interrupted = std::function<bool()>;

// The result of one operator, or the error of result_of(). What would take more than `most_elements_at_once` elements of memory
// is an error too. `interrupted` is asked between rows of large operators; then the error's code is ErrorCode::interrupted.
Result<Numbers> evaluate(
    const Operator &op, const std::vector<const Numbers *> &inputs,
    const Interrupted &interrupted = [] { return false; });

struct EvaluationOptions {
    Interrupted interrupted = [] { return false; };                   // asked between operators and rows of large ones
    std::function<void(ValueId, const Numbers &)> observe = nullptr;  // inputs, constants in use and results, once each
};

// The outputs of a graph in their order. `inputs` in the order of Graph::inputs; forms must be equal. A value is kept until
// it was used for the last time. Precondition: validate(graph).
Result<std::vector<Numbers>> evaluate(const Graph &graph, const std::vector<Numbers> &inputs,
                                      const EvaluationOptions &options = {});

}  // namespace kiln::graph
