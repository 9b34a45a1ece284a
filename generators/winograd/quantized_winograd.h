// What the generators of Winograd convolutions in integers and of their packed weights share (catalog/winograd/quantized_winograd.h).
#pragma once

#include <Halide.h>

#include <vector>

#include "catalog/winograd/quantized_winograd.h"
#include "generators/winograd/winograd_generator.h"

namespace kiln {

template<typename Derived>
class QuantizedWinogradGenerator : public WinogradGenerator<Derived> {
protected:
    static constexpr int parts = quantized_winograd_parts;

    void read_quantized_winograd() {
        this->read_facts(parts);
        const int m = winograd_m(this->candidate.algorithm);
        const IntegerWinograd x = quantized_winograd_matrices(m, this->loops, 0),
                              y = quantized_winograd_matrices(m, this->loops, 1);
        this->along_x = x.matrices, this->along_y = y.matrices;
        scale = x.scale * y.scale;
    }

    int pairs() const { return extent(this->facts.summed_channels() / parts); }

    // Extents of the packed weights, innermost first: part, lane, vector, pair of channels, panel of a block, frequency, block.
    std::vector<int64_t> packed_pairs() const {
        const std::vector<int64_t> whole = this->weight_extents();
        return {parts, whole[0], whole[1], pairs(), whole[3], whole[4], whole[5]};
    }

    int64_t scale = 1;  // of a sum that was transformed back
};

}  // namespace kiln
