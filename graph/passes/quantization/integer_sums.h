// What a sum of products of quantized numbers is multiplied by, and the convolution in i32 behind which that happens.
#pragma once

#include <optional>
#include <vector>

#include "graph/passes/quantization/quantized_values.h"

namespace kiln::graph {

// Weights as they are stored, with a scale and a zero point for each output channel, or one for all. A scale may be 0, as exporters
// write it for a channel whose weights all are.
struct QuantizedWeights {
    ValueId stored = 0;
    std::vector<double> scales;
    std::vector<int64_t> zero_points;  // empty: all are 0
};

// Nothing where they are no constants of i8 or u8, or their parameters go along another axis than `axis`.
std::optional<QuantizedWeights> quantized_weights(const Rewriting &graph, ValueId id, int axis);

// An input of i8 or u8 with one scale and one zero point.
struct QuantizedInput {
    ValueId stored = 0;
    UniformQuantization by;
};
std::optional<QuantizedInput> quantized_input(const Rewriting &graph, ValueId id);

// Whether sums of so many products stay within i32.
bool fits_sums(int64_t products, bool has_wide_weights);

// Weights that are u8, or have zero points, differ from them by up to 255.
bool are_wide(const Rewriting &graph, ValueId stored, bool have_zero_points);
bool are_wide(const Rewriting &graph, const QuantizedWeights &weights);

// Numbers of a bias in units of the sums: whole ones, up to the rounding of f32. Nothing where they are others,
// or not 0 where the unit is.
std::optional<std::vector<int64_t>> whole_biases(const std::vector<double> &numbers, const std::vector<double> &units,
                                                 int64_t largest);

}  // namespace kiln::graph
