#include "catalog/depthwise_algorithm.h"

#include "catalog/conv_checks.h"
#include "catalog/quantized_algorithm.h"
#include "rewrites/column_steps.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/depthwise/channel_tile_space.h"
#include "schedules/spaces/depthwise/row_tile_space.h"
#include "schedules/spaces/depthwise/step_tile_space.h"
#include "workload/division.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

// What sums of one channel each ask for, whatever their vectors are.
Status lies_in_rows(const ConvLoops &loops) {
    if (loops.has_groups_in_batch() || loops.scatters())
        return unsupported("batch_group_count: groups lie in the batch");
    if (loops.has_holes()) return unsupported("the input has holes (lhs_dilation), which cut through its rows");
    return {};
}

Status has_one_output_a_channel(const ConvLoops &loops) {
    if (loops.groups > 1 && loops.input_channels == 1 && loops.group_outputs() == 1) return {};
    return unsupported("not depthwise with one output for each channel");
}

}  // namespace

Status depthwise_rows_applies(std::string_view, const Workload &w, const Target &target) {
    if (Status s = convolution_applies(w, {Operation::conv, Operation::conv_backprop_input}); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (loops.groups == 1 || loops.input_channels != 1) {
        return unsupported("not depthwise: a group has several input channels, or there is one group");
    }
    if (Status s = lies_in_rows(loops); !s) return s;
    const bool has_rows = loops.stored_input.block == 1 || loops.stored_result.block == 1;
    if (!has_rows && !copies_to_registers(loops, vector_lanes(target))) {
        return unsupported("channels are side by side in both activations: rows are not contiguous");
    }
    if (loops.kernel[0] > most_row_tile_columns) {
        return unsupported("a row of the kernel is too much code unrolled");
    }
    return copies_fit(loops);
}

Space depthwise_rows_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return row_tile_space(base, conv_loops(w), target, core);
}

Status depthwise_turned_applies(std::string_view, const Workload &w, const Target &target) {
    if (Status s = convolution_applies(w, {Operation::conv, Operation::conv_backprop_input}); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (Status s = has_one_output_a_channel(loops); !s) return s;
    if (Status s = lies_in_rows(loops); !s) return s;
    if (loops.converts) return unsupported("channels are turned in vectors of f32");
    const int lanes = vector_lanes(target);
    if (lanes < 8) return unsupported("vectors have fewer than 8 lanes: masked loads cost too much");
    const ChannelsInMemory in = channels_in_memory(loops.stored_input, lanes),
                           out = channels_in_memory(loops.stored_result, lanes);
    if (in == ChannelsInMemory::together && out == ChannelsInMemory::together)
        return unsupported("channels of a vector are side by side in both activations");
    if (in == ChannelsInMemory::mixed || out == ChannelsInMemory::mixed)
        return unsupported("vectors of channels begin within a block and end in another");
    if (loops.kernel[0] * (loops.dilation[1] == 1 ? loops.kernel[1] : 1) > most_channel_tile_products / 4)
        return unsupported("a tile of the kernel is too much code unrolled");
    return copies_fit(loops);
}

Space depthwise_turned_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return channel_tile_space(base, conv_loops(w), target, core);
}

int64_t column_parts(const Workload &w, const Target &target) {
    return has_dot_products(target) && !has_wide_weights(w) ? 4 : 2;
}

Status quantized_depthwise_applies(std::string_view, const Workload &w, const Target &target) {
    if (!is_quantized(w))
        return unsupported("dtype " + std::string(name(w.dtype)) + " is not quantized; needs i8 or u8");
    if (Status s = result_can_be_computed(w); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (Status s = has_one_output_a_channel(loops); !s) return s;
    if (Status s = lies_in_rows(loops); !s) return s;
    const bool side_by_side = loops.stored_input.block == loops.stored_input.channels &&
                              loops.stored_result.block == loops.stored_result.channels;
    if (!side_by_side) return unsupported("channels are not side by side in both activations (NHWC)");
    const int64_t parts = column_parts(w, target);
    if (loops.kernel[0] == 1 || ceil_div(loops.kernel[0], parts) > most_step_tile_groups)
        return unsupported("a row of the kernel has one column, or too many to be unrolled");
    if (vector_lanes(target) == 1) return unsupported("the target has no vectors");
    return copies_fit(loops);
}

Space quantized_depthwise_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return step_tile_space(base, conv_loops(w), column_parts(w, target), target, core);
}

}  // namespace kiln
