#include "catalog/conv_algorithms.h"

#include <bit>
#include <initializer_list>
#include <string>

#include "catalog/conv_checks.h"
#include "catalog/conv_rewrites.h"
#include "rewrites/panels.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/spaces/gradient_tile_space.h"

namespace kiln {
namespace {

constexpr std::initializer_list<Operation> activations{Operation::conv, Operation::conv_backprop_input};

// Halide 21 loses a `let` (find_intrinsics) where vectors of halves cross such blocks and the sum that they are converted for is read
// twice.
bool crosses_blocks_of_halves(const Workload &w) {
    const bool is_half = w.dtype == DType::f16 || w.dtype == DType::bf16;
    return is_half && w.input_layout.kind == ActivationLayout::Kind::nchwc &&
           !std::has_single_bit(unsigned(w.input_layout.block));
}

}  // namespace

Space sum_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return cpu_tile_space(base, gathered(loops_of(base.algorithm, w, target)), target, core);
}

Status direct_applies(std::string_view, const Workload &w, const Target &) {
    if (Status s = convolution_applies(w, activations); !s) return s;
    return copies_fit(conv_loops(w));
}

Status separable_applies(std::string_view, const Workload &w, const Target &) {
    constexpr int64_t most_taps = 64;  // of sums that are written out
    if (Status s = convolution_applies(w, {Operation::conv}); !s) return s;
    if (w.depthwise.empty()) return unsupported("there is no depthwise convolution in front");
    if (elements(w.depthwise) > most_taps)
        return unsupported("depthwise has " + std::to_string(elements(w.depthwise)) + " taps; needs 64 or fewer");
    if (w.input_layout.kind == ActivationLayout::Kind::nchw && w.input.back() > 1)
        return unsupported("input_layout NCHW has the channels of a pixel apart; needs NHWC or NCHW<b>c");
    if (crosses_blocks_of_halves(w))
        return unsupported("input_layout has blocks of " + std::to_string(w.input_layout.block) +
                           " channels, of halves; needs NHWC, or blocks of 4, 8, 16 or another power of two");
    if (Status s = copies_fit(depthwise_loops(w)); !s) return s;
    return copies_fit(pointwise_loops(w));
}

Status phases_applies(std::string_view name, const Workload &w, const Target &target) {
    if (Status s = convolution_applies(w, activations); !s) return s;
    if (!conv_loops(w).has_holes()) return unsupported("the input has no holes (lhs_dilation): there is one phase");
    if (w.special_values == SpecialValues::exact) {
        return unsupported("special_values exact: phases share a window, so that some multiply inputs by zeros");
    }
    return copies_fit(loops_of(name, w, target));
}

Status input_phases_applies(std::string_view name, const Workload &w, const Target &target) {
    if (Status s = convolution_applies(w, activations); !s) return s;
    if (conv_loops(w).has_holes())
        return unsupported("the input has holes (lhs_dilation), which cut through its phases");
    const ConvLoops phased = loops_of(name, w, target);
    if (phased.input_phases == 1) return unsupported("no rhs_dilation beyond the strides: there is one phase");
    return copies_fit(phased);
}

Status kernel_gradient_applies(std::string_view, const Workload &w, const Target &) {
    if (Status s = convolution_applies(w, {Operation::conv_backprop_kernel}); !s) return s;
    return copies_fit(conv_loops(w));
}

Space kernel_gradient_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return gradient_tile_space(base, conv_loops(w), target, core);
}

}  // namespace kiln
