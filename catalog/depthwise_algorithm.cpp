#include "catalog/depthwise_algorithm.h"

#include "catalog/conv_checks.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/row_tile_space.h"

namespace kiln {

Status depthwise_rows_applies(std::string_view, const Workload &w, const Target &) {
    if (Status s = convolution_applies(w, {Operation::conv, Operation::conv_backprop_input}); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (loops.groups == 1 || loops.input_channels != 1) {
        return unsupported("not depthwise: a group has several input channels, or there is one group");
    }
    if (loops.has_groups_in_batch() || loops.scatters()) {
        return unsupported("batch_group_count: groups lie in the batch");
    }
    if (loops.has_holes()) return unsupported("the input has holes (lhs_dilation), which cut through its rows");
    if (loops.stored_input.block != 1 && loops.stored_result.block != 1) {
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

}  // namespace kiln
