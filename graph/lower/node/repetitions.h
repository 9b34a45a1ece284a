// What repeated graphs write out, as far as that is certain before they are: a few bytes can ask for repetitions without end, and who
// asks is told at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "graph/onnx/model.h"

namespace kiln::graph {

inline constexpr int64_t most_repetitions = 1 << 14;  // by one node

// Refuses a sequence that an operator would write out in too many steps, in all directions together.
void check_steps_of_sequence(int64_t steps, int64_t directions = 1);

// What a graph takes each time that it is lowered, in nodes and names. Graphs in its nodes count each time that they are.
int64_t placed_size(const onnx::Body &body);

// Whether the graph of a Loop never ends it: it answers the condition that it was given.
bool goes_on(const onnx::Body &body);

// Of a value of the graphs around one: its only element, where that is an integer that is known.
using KnownAround = std::function<std::optional<int64_t>(std::string_view name)>;

// What lowering a graph takes at least: itself, and the graphs of Loops in it that run a number of times that is known already.
// Says no more than 2^40.
int64_t certain_size(const onnx::Body &body, const KnownAround &around);

}  // namespace kiln::graph
