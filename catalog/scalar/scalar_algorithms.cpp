#include "catalog/scalar/scalar_algorithms.h"

#include "catalog/conv_checks.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/scalar/scalar_tile_space.h"
#include "schedules/spaces/scalar/shared_tile_space.h"
#include "workload/quantization/quantization.h"

namespace kiln {
namespace {

// What both ask of a workload. Everything else is `quantized`'s.
Status scalar_applies(const Workload &w, const Target &target) {
    if (!is_soft_core(target))
        return unsupported("only soft cores, such as rv32im, multiply one pair of numbers at a time");
    if (!is_quantized(w) || w.op != Operation::conv) return unsupported("needs a quantized convolution");
    if (!requantization_of(w)) return unsupported("needs requantize_litert or requantize_onnx");
    if (adds_quantized(w)) return unsupported("the epilogue adds a quantized tensor");
    if (w.kernel_zero_point || w.kernel_dtype != DType::i8)
        return unsupported("weights need to be i8 without zero points");
    if (Status s = result_can_be_computed(w); !s) return s;
    const ConvLoops loops = conv_loops(w);
    const bool is_nhwc = loops.is_nhwc() && loops.output_block == loops.output_channels;
    if (!is_nhwc || loops.scatters() || loops.folds()) return unsupported("input and result need to be NHWC");
    if (loops.has_holes()) return unsupported("the input has holes (lhs_dilation)");
    return copies_fit(loops);
}

// What code that layers share asks for besides.
Status is_flat(const ConvLoops &loops) {
    if (loops.output[2] * loops.kernel[2] * loops.input[2] * loops.batch != 1)
        return unsupported(
            "several images, planes of a volume, or windows of one row, whose rows are images of their own");
    if (loops.pad_lo[2] != 0) return unsupported("padding along a volume's depth: what is read is another plane");
    return {};
}

}  // namespace

Status scalar_depthwise_applies(std::string_view, const Workload &w, const Target &target) {
    if (Status s = scalar_applies(w, target); !s) return s;
    if (conv_loops(w).input_channels != 1) return unsupported("sums go over several channels");
    if (conv_loops(w).taps() > 64) return unsupported("more than 64 taps, which would all be written out");
    return {};
}

Space scalar_depthwise_space_of(const Candidate &base, const Workload &w, const Target &, const Core &) {
    return scalar_depthwise_space(base, conv_loops(w));
}

Status scalar_dense_applies(std::string_view, const Workload &w, const Target &target) {
    if (Status s = scalar_applies(w, target); !s) return s;
    if (conv_loops(w).groups != 1) return unsupported("groups");
    return {};
}

Space scalar_dense_space_of(const Candidate &base, const Workload &w, const Target &, const Core &) {
    return scalar_dense_space(base, conv_loops(w));
}

Status shared_depthwise_applies(std::string_view name, const Workload &w, const Target &target) {
    if (Status s = scalar_depthwise_applies(name, w, target); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (Status s = is_flat(loops); !s) return s;
    if (loops.taps() > 25) return unsupported("more than 25 taps, which would all be written out");
    return {};
}

Space shared_depthwise_space_of(const Candidate &base, const Workload &w, const Target &, const Core &) {
    return shared_depthwise_space(base, conv_loops(w));
}

Status shared_dense_applies(std::string_view name, const Workload &w, const Target &target) {
    if (Status s = scalar_dense_applies(name, w, target); !s) return s;
    const ConvLoops loops = conv_loops(w);
    if (Status s = is_flat(loops); !s) return s;
    if (loops.kernel[0] > 1 && loops.dilation[0] > 1)
        return unsupported("taps of a row of the window are not neighbours");
    return {};
}

Space shared_dense_space_of(const Candidate &base, const Workload &w, const Target &, const Core &) {
    return shared_dense_space(base, conv_loops(w));
}

}  // namespace kiln
