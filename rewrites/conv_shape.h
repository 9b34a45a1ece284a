// A convolution's sizes in the form that generators and spaces work with: always three spatial dimensions, innermost
// first, merged where the mathematics allows.
//
// Both sides must see the same loops, so both derive them here from the workload. Merging: dimensions that a
// convolution only walks over (kernel 1, stride 1, no padding) are one long dimension, so a 1x1 convolution is a matrix
// product over all pixels of the batch; and a rank below 3 leaves the outer dimensions at 1.
//
// The gradient of the input is a convolution too, of dy with the kernel turned around and its channels exchanged:
//   dx[i] = sum over o, r with o * stride + r * dilation - pad = i * hole of dy[o] k[r]
//         = sum over r' of dy~[i * hole + r' * dilation - ((R - 1) * dilation - pad)] k[R - 1 - r']
// where dy~ has stride - 1 zeros between neighbours: strides and holes change places. What serves one serves the other;
// only packed weights know of the turned kernel (V. Dumoulin and F. Visin, "A guide to convolution arithmetic", 2016).
#pragma once

#include <array>
#include <cstdint>

#include "workload/workload.h"

namespace kiln {

// One dimension of the input as its phases see it: position u of phase f lies at u * step + f * shift - lead of the
// input, or outside of it.
struct InputPhases {
    int64_t count = 1, step = 1, shift = 0, lead = 0;
    bool operator==(const InputPhases &) const = default;
};

struct ConvShape {
    // Indices: 0 = x (width), 1 = y (height), 2 = z (depth).
    std::array<int64_t, 3> input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1};
    // Of the input in memory: phases see parts of it, blocks of pixels see it folded.
    std::array<int64_t, 3> stored_input{1, 1, 1};
    std::array<int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1};
    std::array<int64_t, 3> pad_lo{0, 0, 0}, pad_hi{0, 0, 0};
    // Zeros lie between neighbours of the input: position u of the dilated input is input u / hole where hole divides
    // u.
    std::array<int64_t, 3> hole{1, 1, 1};
    int64_t batch = 1;            // of one group
    int64_t groups = 1;           // of channels, or of the batch
    int64_t input_channels = 1;   // of one group
    int64_t output_channels = 1;  // of all groups together
    // Groups (all, or 1) whose inputs or whose results lie apart in the batch and not in the channels.
    int64_t batch_groups = 1, result_batch_groups = 1;
    // Outputs of one residue modulo `phases` are convolutions of their own, side by side as further output channels:
    // channel (group * all_phases() + phase) * (outputs of one) + c. `output` and `kernel` are those of one phase.
    // Output o is number (o + phase_origin) / phases of its phase.
    std::array<int64_t, 3> phases{1, 1, 1}, phase_origin{0, 0, 0};
    // Outputs of one residue read inputs of one residue modulo the dilation, and are convolutions without dilation of
    // their own, side by side as further images: image n * all_input_phases() + phase. Output o is number o / count of
    // phase o % count.
    std::array<InputPhases, 3> input_phases;
    bool taps_missing = false;  // some phase has fewer taps than the window
    bool turned = false;        // the kernel is read back to front with its channels exchanged
    bool converts = false;      // the input is not f32
    bool folded = false;        // blocks of pixels of the input are read as channels (schedules/folded_shape.h)
    // Channels of one block in memory, all of them in NHWC and 1 in NCHW; the last block may be filled up.
    int64_t input_block = 1, output_block = 1;
    // Panels of output channels start anew with every group: no vector needs inputs of two groups. A group's outputs
    // then count as a block.
    bool group_panels = false;

    // Whether some tap of dimension d falls outside the input, or into a hole of it, for some output.
    bool reads_outside(int d) const;
    int64_t dilated(int d) const { return (input[d] - 1) * hole[d] + 1; }  // extent with the holes
    bool has_holes() const { return hole[0] * hole[1] * hole[2] > 1; }
    int64_t all_phases() const { return phases[0] * phases[1] * phases[2]; }
    int64_t all_input_phases() const { return input_phases[0].count * input_phases[1].count * input_phases[2].count; }
    // Whether panels of `width` outputs are each of one phase, so that the taps it does not have can be left out.
    bool skips_missing_taps(int64_t width) const { return taps_missing && group_outputs() / all_phases() % width == 0; }
    // Whether results are stored elsewhere than the sums' channels say: a copy puts them there.
    bool scatters() const { return result_batch_groups > 1 || all_phases() > 1 || all_input_phases() > 1; }
    // Input positions of dimension d between the first and the last that `outputs` neighbouring outputs read, both
    // counted.
    int64_t reach(int64_t outputs, int d) const {
        return (outputs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
    }
    int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    int64_t all_input_channels() const { return input_channels * groups; }
    int64_t stored_input_channels() const { return all_input_channels() / batch_groups; }  // of one image
    // Output channels with those that fill up the last block: what is stored.
    int64_t stored_channels() const { return (output_channels + output_block - 1) / output_block * output_block; }
    int64_t group_outputs() const { return output_channels / groups; }
    // Panels of `width` output channels, the last of a row of panels perhaps not full.
    int64_t panels(int64_t width) const {
        return group_panels ? groups * ((group_outputs() + width - 1) / width)
                            : (stored_channels() + width - 1) / width;
    }
};

// The shape of a forward convolution, of the gradient of the input as a convolution of dy, or, for the gradient of the
// kernel, that of the forward convolution. Precondition: the result is not empty.
ConvShape conv_shape(const Workload &workload);

// The phases of the output as convolutions of their own that meet no hole of the input; the same shape where there is
// none. Output o = q * P + f of a dimension, P = hole / gcd(stride, hole), needs the taps k with
//   f * stride + k * dilation = pad (mod hole),
// input q * (P * stride / hole) + (f * stride + k * dilation - pad) / hole. The window is that of all phases together;
// a tap that a phase does not have is a zero of its packed weights (phase_taps). f runs from -phase_origin to P - 1 -
// phase_origin, the origin for which the window is smallest.
ConvShape phase_shape(ConvShape shape);

// The phases of the input as convolutions of their own without dilation; the same shape where there is none. With
// g = gcd(stride, dilation), output o = q * (dilation / g) + f of a dimension reads, for tap k,
//   o * stride + k * dilation - pad = dilation * (q * stride / g + k) + f * stride - pad,
// so the convolution of phase f has stride stride / g. Precondition: no holes.
ConvShape input_phase_shape(ConvShape shape);

// Whether along dimension d every output sees some input, and none just padding. Precondition: no holes.
bool every_window_meets_input(const ConvShape &shape, int d);

// Along one dimension: tap m of the window of `phased` at a phase is tap (m * scale + shift - phase * step) / dilation
// of the kernel of `whole`, where that is a whole number from 0 to kernel - 1, and else does not exist.
struct PhaseTaps {
    int64_t scale = 1, shift = 0, step = 0, dilation = 1, kernel = 1;
};
PhaseTaps phase_taps(const ConvShape &whole, const ConvShape &phased, int d);

// The shape whose results are in NHWC with the sums' channels, whatever the result's layout: what is left to the tiles
// where a copy puts the results in their places; else the same.
ConvShape gathered_shape(ConvShape shape);

// The same convolution seen as one over rows of floats: the kernel's columns and input channels, contiguous in NHWC,
// are one dimension of the sum. Packed weights are the same bytes. Precondition: dilation[0] is 1, one group.
ConvShape joined_columns(ConvShape shape);

// The shape as panels of vectors of `lanes` outputs see it: with group_panels where groups and vectors do not divide
// each other, so that lanes of one vector would need different groups' inputs at different places.
ConvShape panel_shape(ConvShape shape, int lanes);

}  // namespace kiln
