// A convolution's sizes in the form that generators and spaces work with: always three spatial dimensions, innermost
// first, merged where the mathematics allows.
//
// Both sides must see the same loops, so both derive them here from the workload. Merging: dimensions that a
// convolution only walks over (kernel 1, stride 1, no padding) are one long dimension, so a 1x1 convolution is a matrix
// product over all pixels of the batch; and a rank below 3 leaves the outer dimensions at 1.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/workload.h"

namespace kiln {

struct ConvShape {
    // Indices: 0 = x (width), 1 = y (height), 2 = z (depth).
    std::array<int64_t, 3> input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1};
    std::array<int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1};
    std::array<int64_t, 3> pad_lo{0, 0, 0}, pad_hi{0, 0, 0};
    int64_t batch = 1;
    int64_t groups = 1;
    int64_t input_channels = 1;   // of one group
    int64_t output_channels = 1;  // of all groups together
    // Channels of one block in memory, all of them in NHWC and 1 in NCHW; the last block may be filled up.
    int64_t input_block = 1, output_block = 1;
    // Panels of output channels start anew with every group: no vector needs inputs of two groups. A group's outputs
    // then count as a block.
    bool group_panels = false;

    // Whether some tap of dimension d falls outside the input for some output.
    bool reads_outside(int d) const;
    // Input positions of dimension d between the first and the last that `outputs` neighbouring outputs read, both
    // counted.
    int64_t reach(int64_t outputs, int d) const {
        return (outputs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
    }
    int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    int64_t all_input_channels() const { return input_channels * groups; }
    // Output channels with those that fill up the last block: what is stored.
    int64_t stored_channels() const { return (output_channels + output_block - 1) / output_block * output_block; }
    int64_t group_outputs() const { return output_channels / groups; }
    // Panels of `width` output channels, the last of a row of panels perhaps not full.
    int64_t panels(int64_t width) const {
        return group_panels ? groups * ((group_outputs() + width - 1) / width)
                            : (stored_channels() + width - 1) / width;
    }
};

// Precondition: a forward convolution without batch groups and without lhs_dilation, not empty.
ConvShape conv_shape(const Workload &workload);

// The same convolution seen as one over rows of floats: the kernel's columns and input channels, contiguous in NHWC,
// are one dimension of the sum. Packed weights are the same bytes. Precondition: dilation[0] is 1, one group.
ConvShape joined_columns(ConvShape shape);

// The shape as panels of vectors of `lanes` outputs see it: with group_panels where groups and vectors do not divide
// each other, so that lanes of one vector would need different groups' inputs at different places.
ConvShape panel_shape(ConvShape shape, int lanes);

}  // namespace kiln
