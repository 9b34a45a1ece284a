// A convolution as a kernel computes it: its sizes, and where the elements of input, result and kernel lie.
//
// Spaces and generators must see the same loops, so both derive them here from the workload. `conv_loops` answers the
// convolution as it is stated, with merged dimensions; the rewrites (output_phases.h, input_phases.h, fold.h,
// panels.h) each answer the loops of another convolution with the same results. A rewrite changes the sizes and puts
// its own forms into the maps, so rewrites compose, and whoever reads an element asks the map.
//
// Merging: dimensions that a convolution only walks over (kernel 1, stride 1, no padding) are one long dimension, so a
// 1x1 convolution is a matrix product over all pixels of the batch; and a rank below 3 leaves the outer dimensions at 1.
// Where images have one column, rows take the place of columns and planes that of rows, in the stored tensors, too.
//
// The gradient of the input is a convolution too, of dy with the kernel turned around and its channels exchanged:
//   dx[i] = sum over o, r with o * stride + r * dilation - pad = i * hole of dy[o] k[r]
//         = sum over r' of dy~[i * hole + r' * dilation - ((R - 1) * dilation - pad)] k[R - 1 - r']
// where dy~ has stride - 1 zeros between neighbours: strides and holes change places. What serves one serves the other;
// only the kernel's map differs (V. Dumoulin and F. Visin, "A guide to convolution arithmetic", 2016).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rewrites/conv_shape.h"
#include "rewrites/element_map.h"
#include "workload/workload.h"

namespace kiln {

// An activation in memory: whatever the layout, the order is c in block, x, y, z, block, n, the first innermost. NHWC is
// one block of all channels, NCHW has blocks of one; the last block may be filled up.
struct StoredActivation {
    int64_t channels = 1, block = 1;  // of one image
    std::array<int64_t, 3> space{1, 1, 1};
    int64_t images = 1;

    bool is_filled_up() const { return channels % block != 0; }
    bool operator==(const StoredActivation &) const = default;
};

// The indices that maps go from and to. Channels of the input count through all groups; those of the result are known by
// group and by channel of the group.
namespace input_index {
enum { c, x, y, z, n };
}
namespace result_index {
enum { group, co, x, y, z, n };  // of a sum
}
namespace stored_result_index {
enum { c, x, y, z, n };
}
namespace kernel_index {
enum { group, co, ci, s, r, t };
}
namespace stored_kernel_index {
enum { co, ci, s, r, t };  // of the forward convolution as the loops have its dimensions, all groups together
}

// Phases of the outputs along one dimension, where only some that are neighbours have taps, and only those have sums.
struct PhasesWithTaps {
    Place place;           // stored_result_index -> the phase; results of other phases are sums of nothing
    int64_t channels = 1;  // of the sums, from one of these phases to the next
};

struct ConvLoops : ConvShape {
    StoredActivation stored_input, stored_result;
    ElementMap input_map;      // input_index -> the stored input's channel, x, y, z, image
    ElementMap kernel_map;     // kernel_index -> stored_kernel_index
    std::vector<Form> result;  // stored_result_index -> result_index of its sum
    // For the gradient of the kernel, stored_kernel_index -> ci, s, r, t of its sum; co is as stored.
    std::vector<Form> gradient;
    // Whether some tap of a dimension may fall outside of the stored input, as far as the loops know.
    std::array<bool, 3> outside{false, false, false};
    // Channels of one image of the input; the others of `groups` are those of other images.
    int64_t image_channels = 1;
    // Channels that are neighbours, all of an image's in NHWC and 1 in NCHW.
    int64_t input_block = 1, output_block = 1;
    // Panels of output channels start anew with every group: no vector needs inputs of two groups. A group's outputs
    // then count as a block.
    bool group_panels = false;
    bool converts = false;          // the input is not f32, or a prologue changes it
    bool computes_results = false;  // a step of the epilogue is a function of several instructions
    bool adds_tensor = false;       // the epilogue does: a tensor like the result, which may lie in its place
    int64_t joined = 0;  // channels of one column, where a row's columns and channels are one dimension (panels.h)
    int64_t phases = 1;  // with sums, of the outputs of one group, side by side as further channels (output_phases.h)
    // Dimensions that have other phases than those; what they add to the channel of a result's sum is not in `result`.
    std::vector<PhasesWithTaps> phases_with_taps;
    bool taps_missing = false;  // some phase has fewer taps than the window
    int64_t input_phases = 1;   // of an image of the input, side by side as further images (input_phases.h)
    // From one position to the next in the stored input, where phases of the input step over it.
    std::array<int64_t, 3> input_step{1, 1, 1};
    int64_t parts = 1;            // channels of the input that one step multiplies in each lane (parts.h)
    bool padding_counts = false;  // it is a number like others: no tap in it may be left out
    // Taps of the depthwise convolution that computes the input, block by block; 0: the input lies in memory.
    int64_t taps_in_front = 0;

    bool is_input_computed() const { return taps_in_front > 0; }
    bool reads_outside(int d) const { return outside[d]; }
    bool is_nhwc() const { return input_block == image_channels; }
    // Whether positions in the stored input depend on the channel: pixels of blocks are read as channels.
    bool folds() const;
    // Whether images in the stored input do.
    bool has_groups_in_batch() const { return image_channels != all_input_channels(); }
    // Where position u (an index: input_index) of dimension d meets the input: of blocks of pixels, where one of their
    // pixels may.
    Place position(int d) const;
    // Whether results are stored elsewhere than the sums' channels say: a copy puts them there.
    bool scatters() const;
    // Whether panels of `width` outputs are each of one phase, so that the taps it does not have can be left out.
    bool skips_missing_taps(int64_t width) const { return taps_missing && group_outputs() / phases % width == 0; }
    // Output channels with those that fill up the last block: what is stored.
    int64_t stored_channels() const { return (output_channels + output_block - 1) / output_block * output_block; }
    // Panels of `width` output channels, the last of a row of panels perhaps not full.
    int64_t panels(int64_t width) const {
        return group_panels ? groups * ((group_outputs() + width - 1) / width)
                            : (stored_channels() + width - 1) / width;
    }
};

enum class Dimensions { merged, as_stated };

// The loops of a forward convolution, of the gradient of the input as a convolution of dy, or, for the gradient of the
// kernel, those of the forward convolution. Precondition: the result is not empty.
ConvLoops conv_loops(const Workload &workload, Dimensions dimensions = Dimensions::merged);

// Those of the two parts of a separable convolution (workload/separable/separable.h). No dimensions are merged, since what one part
// makes is what the other reads. Precondition: `depthwise` is not empty.
ConvLoops depthwise_loops(const Workload &workload);
ConvLoops pointwise_loops(const Workload &workload);

// Whether along dimension d every output sees some input, and none just padding. Precondition: no holes.
bool every_window_meets_input(const ConvShape &shape, int d);

// The same along planes, of an input with holes, too. Answers true for sizes that would take long to look at: what steps over its input is
// small.
bool every_window_meets_planes(const ConvLoops &loops);

}  // namespace kiln
