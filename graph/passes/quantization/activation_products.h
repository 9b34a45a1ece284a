// Products of two quantized activations, whose sums are exact in i32. They are exact in f32, too, where none can be larger than 2^24,
// whatever order they are added in; and processors multiply floats faster: products of i32 took three times as long on a Zen 2.
#pragma once

#include <optional>

#include "graph/passes/quantization/quantized_values.h"

namespace kiln::graph {

// What is stored less its zero point, of one element or as many as fit the stored ones.
struct Offset {
    ValueId stored, zero_point;
};

// Whether f32 has every sum of products, for all stored numbers and zero points that there may be.
bool is_exact_in_floats(const Rewriting &graph, const Offset &left, const Offset &right);

// The sums of products of both, as f32 where those are exact, else as i32.
ValueId product_of_offsets(Rewriting &graph, const Offset &left, const Offset &right);

// The product of two dequantized activations; nothing where they are quantized in another way than sums can be.
std::optional<ValueId> product_of_activations(Rewriting &graph, const Node &node);

}  // namespace kiln::graph
