// The knobs of the schedule template `gradient_tile`, for the gradient of a kernel: a sum over all pixels for every tap
// and pair of channels. schedules/apply/gradient_tile.h applies them; this half is std only.
//
// The loop nest, outermost first; [n] marks an extent that a knob sets:
//   images / planes / blocks of rows of dy [row_block] / panels / kernel planes, rows / tiles of kernel columns /
//   tiles of channels / rows of the block / pixels of a row / register tile
// The lanes of vectors are output channels or input channels; a panel is [vectors] vectors of them. The register tile
// is a panel by [channels] of the other channels by [columns] of the kernel's columns: its sums stay in registers for a
// block of rows and are then added to the result, in memory.
//
//   across      what lanes are: 0: output channels, 1: input channels of a group
//   lanes       of a vector: all that the target has, or half of them where groups have few channels
//   vectors, channels, columns   the register tile
//   row_block   rows of dy, with what they need of x, that all taps and channels pass before the next come
//   parallel    0: one thread; 1: panels and kernel rows in parallel
//   partials    0: one sum; n: sums over n shares of the images, or of the blocks of rows, in parallel, added up then
#pragma once

#include <cstdint>

#include "rewrites/conv_shape.h"
#include "schedules/space.h"
#include "workload/machine.h"
#include "workload/target.h"

namespace kiln {

inline constexpr const char *gradient_tile_name = "gradient_tile";
inline constexpr int gradient_tile_version = 1;

// What a choice of `across` makes of the channels: those of the lanes, of all vectors, and those of the tile.
struct GradientSides {
    int64_t lane_channels = 1, tile_channels = 1;
};
GradientSides gradient_sides(const ConvShape &forward, bool across);

// How many parts the sum can be split into: images where there are several, else blocks of rows.
int64_t gradient_shares(const ConvShape &forward, int64_t row_block);

// `forward` is the shape of the forward convolution. The default knobs are a function of the arguments alone.
Space gradient_tile_space(Candidate base, const ConvShape &forward, const Target &target, const Machine &machine);

}  // namespace kiln
