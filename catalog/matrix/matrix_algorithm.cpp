#include "catalog/matrix/matrix_algorithm.h"

#include <array>

#include "catalog/conv_checks.h"
#include "catalog/quantized_algorithm.h"
#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "schedules/spaces/matrix/matrix_steps.h"
#include "schedules/spaces/matrix/matrix_tile_space.h"
#include "workload/division.h"

namespace kiln {

ConvLoops matrix_loops(const Workload &w) {
    const ConvLoops loops = read_pixels(conv_loops(w));
    return loops.stride == std::array<int64_t, 3>{1, 1, 1} ? loops : unit_strides(loops);
}

Status matrix_applies(std::string_view, const Workload &w, const Target &target) {
    const bool is_bf16 = w.op == Operation::conv && w.dtype == DType::bf16;
    if (!is_quantized(w) && !is_bf16)
        return unsupported("tile registers multiply i8, u8 and bf16, in forward convolutions");
    if (w.special_values == SpecialValues::exact)
        return unsupported("special_values exact: channels that fill up a product are multiplied by zeros");
    if (!has_feature(target, "avx512_sapphirerapids"))
        return unsupported("the target has no tile registers; needs avx512_sapphirerapids");
    if (w.kernel_zero_point) return unsupported("weights have zero points");
    if (Status s = result_can_be_computed(w); !s) return s;
    const ConvLoops stated = conv_loops(w);
    if (stated.groups > 1 || stated.has_groups_in_batch()) return unsupported("groups: a product has all channels");
    if (stated.has_holes()) return unsupported("the input has holes (lhs_dilation), which cut through its rows");
    for (int d = 0; d < 3; d++) {
        if (stated.kernel[d] > 1 && stated.dilation[d] > 1)
            return unsupported("rhs_dilation: taps of neighbours are no neighbours");
    }
    if (stated.kernel[2] > 1 || stated.output[2] > 1) return unsupported("planes: a product has rows of one");
    const bool is_nhwc = stated.stored_input.block == stated.stored_input.channels &&
                         stated.stored_result.block == stated.stored_result.channels;
    if (!is_nhwc) return unsupported("channels of a pixel are not side by side");
    ConvLoops filled_up = matrix_loops(w);
    filled_up.output_channels = filled_up.panels(matrix_outputs) * matrix_outputs;
    filled_up.input_channels = matrix_steps(filled_up, size_of(w.dtype)).channels();
    return copies_fit(filled_up);
}

Space matrix_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return matrix_tile_space(base, matrix_loops(w), size_of(w.dtype), target, core);
}

bool matrix_pays(const Workload &w, const Target &target, const Core &core) {
    const ConvLoops loops = matrix_loops(w), in_steps = is_quantized(w) ? quantized_loops(w, target) : conv_loops(w);
    const Space space = matrix_space({}, w, target, core);
    const auto knobs = checked_knobs<MatrixTileKnobs>(space.default_candidate().knobs);
    const double outputs = double(loops.batch) * loops.output[0] * loops.output[1];
    const double vectors = double(ceil_div(loops.output_channels, vector_lanes(target)));
    const double products = double(in_steps.input_channels) * in_steps.taps() * vectors * outputs;
    return matrix_cycles(loops, size_of(w.dtype), knobs.block) < products / core.vectors_a_cycle();
}

}  // namespace kiln
