// A convolution, or one of its gradients, as places and taps that meet in memory.
//
// A place is a pixel of the tensor that is walked over (the forward output; the input, for the gradient of the input);
// a tap is a position of the window. They meet in one pixel of the other activation, at
//   (place * place_step + tap * tap_step + origin) / hole
// in every dimension, where the division has no remainder and the pixel lies inside. Elsewhere there is padding or a
// hole, which is skipped.
//
//   conv, conv_backprop_kernel   place p is a pixel of the output, and meets tap r in pixel
//                                (p * stride + r * rhs_dilation - lo) / lhs_dilation of the input
//   conv_backprop_input          place q is a pixel of the input, and meets tap r in pixel
//                                (q * lhs_dilation - r * rhs_dilation + lo) / stride of the output
//
// Groups are separate convolutions that begin at other channels or images.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/fallback/convolution_extents.h"

namespace kiln {

// With fewer spatial dimensions the outer ones have an extent of 1.
inline constexpr int map_rank = KILN_MAX_SPATIAL_RANK;

// An activation in memory; strides and offsets are in elements. Channels lie in blocks; a layout without blocks has one
// block.
struct Activation {
    int32_t dtype = KILN_F32, zero_point = 0;
    int64_t batch_stride = 0, extents[map_rank] = {}, strides[map_rank] = {};
    int64_t channels = 0, block = 0, block_stride = 0, channel_stride = 0;
    int64_t stored_channels = 0;                   // with those that fill up the last block
    int64_t group_images = 0, group_channels = 0;  // steps from one group to the next
};

// to[i * to_step] = channel `first` + i of the pixel at `offset`, and the other way, for f32, f16 and bf16 or for integers.
void load_channels(const Activation &form, const void *data, int64_t offset, int64_t first, int64_t count, float *to,
                   int64_t to_step);
void store_channels(const Activation &form, const float *from, int64_t offset, int64_t first, int64_t count,
                    void *data);
void store_channels(const Activation &form, const int32_t *from, int64_t offset, int64_t first, int64_t count,
                    void *data);

struct Weights {
    int32_t dtype = KILN_F32;
    int64_t extents[map_rank] = {};
    int64_t tap_stride = 0, input_stride = 0, output_stride = 0;
    const int32_t *zero_points = nullptr;  // of the output channels, or none
    int64_t taps() const { return extents[0] * extents[1] * extents[2]; }
};

struct WalkedPlace {
    int64_t pixel;         // its offset in the tensor that is walked over
    int64_t image;         // the offset of its image in the other one
    int64_t at[map_rank];  // place * place_step + origin
};

// Some channels of one tap.
struct TapRun {
    int64_t at[map_rank];  // tap * tap_step
    int64_t weights;       // the offset of the tap
    int64_t channel;       // the first one, of the group
    int first, count;      // positions in the list that was asked for
};

struct ConvolutionMap {
    ConvolutionExtents extents;
    Activation input, output;  // of the forward convolution
    Weights weights;
    bool walks_input;  // conv_backprop_input
    int64_t place_step[map_rank], tap_step[map_rank], origin[map_rank], hole[map_rank];
    int64_t phases;  // places of the last dimension whose distance is a multiple of it meet the same taps

    const Activation &walked() const { return walks_input ? input : output; }
    const Activation &met() const { return walks_input ? output : input; }

    // The places of one group. Those of a row are ordered by phase, so that neighbours meet the same taps.
    int64_t place_count() const;
    void list_places(int64_t group, int64_t first, int count, WalkedPlace *places) const;

    // Lists the positions from `first` to `first + count` of all pairs (tap, channel), channels innermost, as runs.
    // Answers the number of runs.
    int list_taps(int64_t channels, int64_t first, int count, TapRun *runs) const;

    // The offset of the pixel, negative for padding and holes.
    int64_t meet(const WalkedPlace &place, const TapRun &tap) const {
        const Activation &other = met();
        int64_t offset = place.image;
        for (int d = 0; d < map_rank; d++) {
            int64_t position = place.at[d] + tap.at[d];
            if (position < 0) return -1;
            if (hole[d] != 1) {
                if (position % hole[d] != 0) return -1;
                position /= hole[d];
            }
            if (position >= other.extents[d]) return -1;
            offset += position * other.strides[d];
        }
        return offset;
    }
};

// Precondition: convolution_extents() accepts the descriptor.
ConvolutionMap convolution_map(const kiln_descriptor &normalized);

}  // namespace kiln
