// Where the packed weights of direct sums lie.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

#include "generators/kernel_generator.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/cpu_tile_knobs.h"
#include "schedules/spaces/cpu_tile_space.h"

namespace kiln {

// A buffer has the dimensions lane, vector, ci, s, r, t, panel, innermost first. Of several streams (CpuTile::streams) the lanes are those
// of all vectors that a stream has of a step, `vector` counts streams, and each stream has all steps behind each other.
class PanelForm {
public:
    PanelForm(const CpuTileKnobs &knobs, int lanes)
        : lanes_(lanes),
          has_streams_(knobs.streams != 0),
          together_(has_streams_ ? vectors_of_stream(lanes) : 1),
          vectors_(extent(knobs.vectors) / together_) {}

    int lanes() const { return lanes_ * together_; }
    int vectors() const { return vectors_; }

    // Of a lane of one of the tile's vectors.
    Halide::Expr lane(const Halide::Expr &lane, const Halide::Expr &vector) const {
        return together_ == 1 ? lane : vector % together_ * lanes_ + lane;
    }
    Halide::Expr vector(const Halide::Expr &vector) const { return together_ == 1 ? vector : vector / together_; }

    template<typename BufferParameter>
    void fix(BufferParameter &buffer, const ConvLoops &loops) const {
        const std::vector<int64_t> taps{loops.input_channels, loops.kernel[0], loops.kernel[1], loops.kernel[2]};
        const int64_t panels = loops.panels(int64_t{lanes()} * vectors());
        kiln::fix(buffer, {lanes(), vectors(), taps[0], taps[1], taps[2], taps[3], panels});
        if (!has_streams_) return;
        int64_t stride = lanes();
        for (int d = 0; d < 4; d++) {
            buffer.dim(2 + d).set_stride(extent(stride));
            stride *= taps[static_cast<size_t>(d)];
        }
        buffer.dim(1).set_stride(extent(stride));
    }

private:
    const int lanes_;  // of a vector
    const bool has_streams_;
    const int together_, vectors_;
};

}  // namespace kiln
