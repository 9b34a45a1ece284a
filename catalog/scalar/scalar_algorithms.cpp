#include "catalog/scalar/scalar_algorithms.h"

#include "catalog/conv_checks.h"
#include "rewrites/conv_loops.h"
#include "schedules/spaces/scalar/scalar_tile_space.h"

namespace kiln {
namespace {

// What both ask of a workload. Everything else is `quantized`'s.
Status scalar_applies(const Workload &w, const Target &target) {
    if (!is_soft_core(target))
        return unsupported("only soft cores, such as rv32im, multiply one pair of numbers at a time");
    if (!is_quantized(w) || w.op != Operation::conv) return unsupported("needs a quantized convolution");
    if (w.epilogue.empty() || !is_requantization(w.epilogue.back().kind))
        return unsupported("needs requantize_litert or requantize_onnx");
    if (w.kernel_zero_point || w.kernel_dtype != DType::i8)
        return unsupported("weights need to be i8 without zero points");
    if (Status s = result_can_be_computed(w); !s) return s;
    const ConvLoops loops = conv_loops(w);
    const bool is_nhwc = loops.is_nhwc() && loops.output_block == loops.output_channels;
    if (!is_nhwc || loops.scatters() || loops.folds()) return unsupported("input and result need to be NHWC");
    if (loops.has_holes()) return unsupported("the input has holes (lhs_dilation)");
    return copies_fit(loops);
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

}  // namespace kiln
