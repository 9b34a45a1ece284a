// The sizes of a convolution: always three spatial dimensions, innermost first.
//
// They say what is summed and nothing of memory (rewrites/conv_loops.h does):
//   y[n, o, c] = sum over (ci, k) of weights[c, ci, k] x~[n, o * stride + k * dilation - pad_lo, first(group of c) + ci]
// where x~ has hole - 1 zeros between neighbours of x, and zeros around it. With groups, channels are counted through
// all of them; each has input_channels inputs and output_channels / groups outputs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace kiln {

struct ConvShape {
    // Indices: 0 = x (width), 1 = y (height), 2 = z (depth).
    std::array<int64_t, 3> input{1, 1, 1}, output{1, 1, 1}, kernel{1, 1, 1};
    std::array<int64_t, 3> stride{1, 1, 1}, dilation{1, 1, 1};
    std::array<int64_t, 3> pad_lo{0, 0, 0}, pad_hi{0, 0, 0};
    std::array<int64_t, 3> hole{1, 1, 1};  // from one element of the input to the next in x~
    int64_t batch = 1;
    int64_t groups = 1;
    int64_t input_channels = 1;   // of one group
    int64_t output_channels = 1;  // of all groups together

    bool operator==(const ConvShape &) const = default;

    int64_t dilated(int d) const { return (input[d] - 1) * hole[d] + 1; }  // extent with the holes
    bool has_holes() const { return hole[0] * hole[1] * hole[2] > 1; }
    // Input positions of dimension d between the first and the last that `outputs` neighbouring outputs read, both
    // counted.
    int64_t reach(int64_t outputs, int d) const {
        return (outputs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
    }
    // How many of these are read: with a dilation or a wide stride, some are not. Two taps of two outputs meet where the outputs are
    // dilation / g apart and the taps stride / g, where g is the greatest common divisor of both; each such pair is one less.
    int64_t positions_read(int64_t outputs, int d) const {
        const int64_t g = std::gcd(stride[d], dilation[d]);
        return outputs * kernel[d] -
               std::max<int64_t>(0, outputs - dilation[d] / g) * std::max<int64_t>(0, kernel[d] - stride[d] / g);
    }
    // Whether some tap of dimension d falls outside the input, or into a hole of it, for some output.
    bool leaves_input(int d) const {
        return pad_lo[d] > 0 || reach(output[d], d) - pad_lo[d] > dilated(d) || hole[d] > 1;
    }
    int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
    int64_t all_input_channels() const { return input_channels * groups; }
    int64_t group_outputs() const { return output_channels / groups; }
};

}  // namespace kiln
