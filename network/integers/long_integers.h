// Kernels exchange no integers of 64 bits. A node that needs such a value computes it again, from what kernels do exchange.
#pragma once

#include <optional>

#include "graph/operator.h"
#include "graph/rewriting/rewriting.h"
#include "graph/rewriting/value_range.h"

namespace kiln::network {

// What a kernel can make of a value that the caller gives: of conditions, which are bytes, and of floats of 16 bits, f32; of integers of
// 64 bits their lower halves.
std::optional<graph::Element> readable_form(const graph::Rewriting &graph, graph::ValueId id);

// The node that makes it.
graph::ValueId made_readable(graph::Rewriting &graph, graph::ValueId id);

bool moves(const graph::Operator &op);

// Whether what lies outside of an input that is stored as such a type is a number of it.
bool fill_fits(const graph::Operator &op, graph::Element stored);

// The lower halves of integers of 64 bits that the caller gives, also of those that were moved `depth` times at most. A value that
// is only moved keeps all of its bits.
std::optional<graph::ValueId> lower_halves(graph::Rewriting &graph, graph::ValueId id, int depth = 8);

// An element-wise node that computes what it reads, too. Lengths and places are such numbers; there are few of them.
std::optional<graph::ValueId> compute_sources(graph::Rewriting &graph, const graph::Elementwise &op,
                                              const graph::Node &node);

// Whether f32 has every integer of the range.
bool is_exact_in_floats(const std::optional<graph::ValueRange> &range);

// Extremes, and sums by those of 16 bits each; what f32 has is left to floats.
std::optional<graph::ValueId> reduce_long(graph::Rewriting &graph, const graph::Node &node);

}  // namespace kiln::network
