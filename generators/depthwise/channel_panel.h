// What the generator of depthwise sums in vectors of channels shares with that of their packed weights.
#pragma once

#include <Halide.h>

#include <vector>

#include "generators/conv_generator.h"
#include "schedules/spaces/depthwise/channel_tile_space.h"
#include "workload/division.h"

namespace kiln {

template<typename Derived>
class ChannelPanelGenerator : public ConvGenerator<Derived, ChannelTileKnobs> {
protected:
    void read_channels() {
        this->read_convolution();
        lanes = vector_lanes(this->target_of_kiln);
    }

    int vectors() const { return extent(ceil_div(this->loops.output_channels, lanes)); }
    // Extents of the packed weights, innermost first: lane, s, r, t, vector.
    std::vector<int64_t> packed_weights() const {
        const auto &kernel = this->loops.kernel;
        return {lanes, kernel[0], kernel[1], kernel[2], vectors()};
    }

    int lanes = 1;
};

}  // namespace kiln
