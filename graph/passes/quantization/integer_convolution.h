// Convolutions of stored numbers, whose sums are exact in i32.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/passes/quantization/integer_sums.h"

namespace kiln::graph {

// Products that a sum of a convolution with such weights (O, I, spatial...) has.
int64_t products_of(const Shape &weights);

// A number for each channel beside values of N, C, spatial...
Shape beside_channels(int64_t channels, size_t axes);

struct IntegerConvolution {
    QuantizedInput x;
    QuantizedWeights w;
    std::vector<int64_t> biases = {};  // empty: none

    // What a sum of each channel is multiplied by, so that it becomes the number that it stands for.
    std::vector<double> units() const;

    // The sums of `op`, which loses its epilogue.
    ValueId add(Rewriting &graph, Convolution op, ValueId stored, ValueId weights) const;
};

}  // namespace kiln::graph
