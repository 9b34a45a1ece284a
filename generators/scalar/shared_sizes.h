// The numbers that a kernel of layers of any size gets in a call, first in its constants: what kiln_compute has as arguments and
// kiln_pack writes. Both name them by this list.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rewrites/conv_loops.h"
#include "schedules/spaces/scalar/shared_tile_knobs.h"

namespace kiln {

struct SharedSize {
    std::string_view name;
    int64_t value = 0;  // of the layer at hand
};

// Those that follow from operands: kiln_pack computes them. All others follow from the loops.
inline constexpr std::string_view shared_operand_numbers[] = {"all_fit", "input_zero_point", "least", "span"};

// Taps of a row of the window are columns and channels, which are neighbours in the input's row: one more where pairs need an
// even number.
inline int64_t shared_row_taps(const ConvLoops &loops) {
    const int64_t taps = loops.kernel[0] * loops.input_channels;
    return taps + taps % 2;
}

// Those of the result: its extents but for channels, and steps from one pixel or line to the next.
inline std::vector<SharedSize> shared_result_sizes(const ConvLoops &loops) {
    return {{"columns", loops.output[0]},
            {"lines", loops.output[1]},
            {"output_pixel", loops.output_channels},
            {"output_line", loops.output_channels * loops.output[0]}};
}

// Rows of the input are rows of elements; a step is from one output to the next.
inline std::vector<SharedSize> shared_dense_sizes(const ConvLoops &loops, const SharedTileKnobs &knobs) {
    const int64_t channels = loops.input_channels;
    const int64_t row_taps = shared_row_taps(loops);
    std::vector<SharedSize> sizes = shared_result_sizes(loops);
    for (const SharedSize size :
         std::initializer_list<SharedSize>{{"panels", loops.output_channels / knobs.channels},
                                           {"panel_weights", knobs.channels * row_taps * loops.kernel[1]},
                                           {"taps", row_taps * loops.kernel[1]},
                                           {"row_taps", row_taps},
                                           {"kernel_rows", loops.kernel[1]},
                                           {"x_step", loops.stride[0] * channels},
                                           {"x_first", -loops.pad_lo[0] * channels},
                                           {"y_step", loops.stride[1]},
                                           {"y_first", -loops.pad_lo[1]},
                                           {"y_dilation", loops.dilation[1]},
                                           {"row_elements", loops.input[0] * channels},
                                           {"rows", loops.input[1]}}) {
        sizes.push_back(size);
    }
    return sizes;
}

// Steps and the window are compiled in. `window_columns`: of the input that a band of outputs reads, with tiles that are full.
inline std::vector<SharedSize> shared_depthwise_sizes(const ConvLoops &loops, const SharedTileKnobs &knobs) {
    const int64_t full = (loops.output[0] + knobs.pixels - 1) / knobs.pixels * knobs.pixels;
    std::vector<SharedSize> sizes = shared_result_sizes(loops);
    for (const SharedSize size :
         std::initializer_list<SharedSize>{{"chunks", loops.output_channels / knobs.channels},
                                           {"input_channels", loops.all_input_channels()},
                                           {"row_elements", loops.all_input_channels() * loops.input[0]},
                                           {"window_columns", loops.reach(full, 0)},
                                           {"x_first", -loops.pad_lo[0]},
                                           {"y_first", -loops.pad_lo[1]},
                                           {"input_columns", loops.input[0]},
                                           {"input_rows", loops.input[1]}}) {
        sizes.push_back(size);
    }
    return sizes;
}

}  // namespace kiln
