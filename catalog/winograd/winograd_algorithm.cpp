#include "catalog/winograd/winograd_algorithm.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "catalog/conv_checks.h"
#include "catalog/conv_rewrites.h"
#include "catalog/winograd_matrices.h"
#include "rewrites/panels.h"
#include "schedules/spaces/winograd/winograd_rules.h"
#include "schedules/spaces/winograd/winograd_space.h"
#include "workload/signature.h"

namespace kiln {
namespace {

// With more than 10 products on a side, rounding errors outweigh the work that is saved, and the code leaves its cache.
constexpr int64_t largest_kernel_side = 7, largest_tile_side = 10;

constexpr const char *needs_depth_1 = "Winograd of three dimensions needs a kernel of depth 1 without padding there";

// What Winograd computes: a dilated convolution runs on the phases of its input, one with strides on blocks of pixels.
ConvLoops winograd_loops(const Workload &w, const Target &target) { return loops_of("winograd_4", w, target); }

Status steps_apply(const Workload &w) {
    const bool turned = w.op == Operation::conv_backprop_input;  // strides and holes have changed places
    const ConvLoops whole = conv_loops(w);
    if (whole.has_holes())
        return unsupported(std::string("Winograd needs ") + (turned ? "strides" : "lhs_dilation") + " of 1");
    // Of a fold, too: pixels that it leaves out are those of rows and columns.
    if (whole.kernel[2] != 1) return unsupported(needs_depth_1);
    for (int d = 0; d < 3; d++) {
        const int64_t stride = whole.stride[d] / std::gcd(whole.stride[d], whole.dilation[d]);  // within a phase
        if (whole.kernel[d] > 1 && stride > whole.kernel[d]) {
            return unsupported("strides beyond the kernel: Winograd would transform pixels that no tap reads");
        }
    }
    for (int d = 0; d < 2; d++) {
        if (whole.kernel[d] > 1 && !every_window_meets_input(whole, d)) {
            return unsupported(
                "padding as wide as the window: outputs that see nothing but padding would be rounding errors instead "
                "of 0");
        }
    }
    return {};
}

Status window_applies(const ConvShape &s, int m) {
    constexpr int z = 2;
    if (s.pad_lo[z] != 0 || s.pad_hi[z] != 0) return unsupported(needs_depth_1);
    int64_t places = 1;  // of a transformed kernel
    for (int d = 0; d < z; d++) {
        const int64_t side = s.kernel[d], tile = side == 1 ? 1 : m + side - 1;
        if (side > largest_kernel_side || tile > largest_tile_side) {
            return unsupported(
                "a kernel side of " + std::to_string(side) +
                " taps, as its strides and dilation leave it, is too large: Winograd takes up to 7, and tiles with "
                "m + taps - 1 up to 10");
        }
        places *= tile;
    }
    constexpr int64_t filled_up = 64;  // channels that fill up the last vectors
    if ((s.input_channels + filled_up) * (s.output_channels + filled_up) >
        std::numeric_limits<int32_t>::max() / places) {
        return unsupported("transformed weights have more than 2^31 elements, which 32-bit indices cannot reach");
    }
    return places > 1
               ? Status()
               : unsupported(
                     "one tap has nothing that Winograd could save: a 1x1 kernel, or strides as wide as the kernel");
}

// A vector of the products has outputs of one group, and channels that fill up a vector would be those of the next group.
Status groups_apply(const Workload &w, const Target &target) {
    const ConvLoops whole = conv_loops(w);
    if (whole.groups == 1) return {};
    const int64_t lanes = vector_lanes(target);
    if (whole.group_outputs() % lanes != 0 || whole.input_channels * 2 < lanes) {
        return unsupported("groups of " + std::to_string(whole.input_channels) + " inputs and " +
                           std::to_string(whole.group_outputs()) + " outputs: those of Winograd fill vectors of " +
                           std::to_string(lanes) + " outputs, and half of one with inputs");
    }
    for (int d = 0; d < 3; d++) {
        if (whole.stride[d] != std::gcd(whole.stride[d], whole.dilation[d]))
            return unsupported("strides: blocks of pixels would mix the channels of several groups");
    }
    const WinogradFacts facts = winograd_facts(whole, 2, target, Core{});
    if (facts.summed_channels() != whole.input_channels) {
        return unsupported(
            "groups of " + std::to_string(whole.input_channels) +
            " inputs, which vectors do not divide: Winograd would fill them up with those of the next group");
    }
    return {};
}

// Whether the product may be in bf16: it then loses no more than bf16 operands or a bf16 output lose. Larger tiles multiply
// its errors by ten and more.
bool may_demote(const Workload &w, const ConvShape &s, int m) {
    const bool coarse = w.dtype == DType::bf16 || w.output_dtype == DType::bf16;
    return coarse && m + std::max(s.kernel[0], s.kernel[1]) - 1 <= 4;
}

}  // namespace

int winograd_m(std::string_view algorithm) { return algorithm.back() - '0'; }

Status winograd_form_applies(int m, const Workload &w, const Target &target) {
    if (w.op != Operation::conv && w.op != Operation::conv_backprop_input) {
        return unsupported("operation " + op_name(w) + " has no Winograd form here");
    }
    if (w.batch_group_count != 1) return unsupported("batch_group_count above 1 is not supported by Winograd");
    if (w.special_values == SpecialValues::exact) {
        return unsupported("special_values exact: Winograd spreads a NaN or Inf over its whole tile");
    }
    if (has_empty_result(w)) return unsupported(std::string(empty_result_text));
    if (Status s = fits_32_bits(w); !s) return s;
    if (Status s = steps_apply(w); !s) return s;
    if (Status s = groups_apply(w, target); !s) return s;
    const ConvLoops loops = winograd_loops(w, target);
    if (Status s = window_applies(loops, m); !s) return s;
    return copies_fit(loops);
}

Status winograd_applies(std::string_view name, const Workload &w, const Target &target) {
    if (is_integer(w.dtype) || is_integer(w.output_dtype)) {
        return unsupported("Winograd transforms fractions: integers (dtype i8, u8) would overflow and round");
    }
    return winograd_form_applies(winograd_m(name), w, target);
}

Space winograd_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    const int m = winograd_m(base.algorithm);
    const ConvLoops shape = gathered(winograd_loops(w, target));
    WinogradTransform transform{m, 1, may_demote(w, shape, m)};
    for (int d = 0; d < 2; d++) {
        if (shape.kernel[d] == 1) continue;
        const int count = m + static_cast<int>(shape.kernel[d]) - 2;
        transform.point_choices = std::max(transform.point_choices, winograd_point_choices(count));
    }
    return winograd_space(base, transform, shape, target, core);
}

}  // namespace kiln
