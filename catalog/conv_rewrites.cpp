#include "catalog/conv_rewrites.h"

#include "catalog/fold_algorithm.h"
#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "rewrites/output_phases.h"
#include "rewrites/panels.h"

namespace kiln {
namespace {

struct Rewrite {
    std::string_view algorithm;
    ConvLoops (*of)(const ConvLoops &, const Blocks &);
};

ConvLoops of_pixels(const ConvLoops &loops, const Blocks &) { return pixels_of_one_row(loops); }
ConvLoops of_output_phases(const ConvLoops &loops, const Blocks &) { return output_phases(loops); }
ConvLoops of_input_phases(const ConvLoops &loops, const Blocks &) { return input_phases(loops); }
ConvLoops of_unit_strides(const ConvLoops &loops, const Blocks &) { return unit_strides(loops); }

// Others compute the convolution as it is stated.
constexpr Rewrite rewrites[] = {
    {"direct", of_pixels},
    {"phases", of_output_phases},
    {"input_phases", of_input_phases},
    {fold_fused, folded},
    {fold_gradient, folded},
    {fold_prepared, prepared},
    {"winograd_2", of_unit_strides},
    {"winograd_3", of_unit_strides},
    {"winograd_4", of_unit_strides},
    {"winograd_5", of_unit_strides},
    {"winograd_6", of_unit_strides},
    {"quantized_winograd_2", of_unit_strides},
    {"quantized_winograd_3", of_unit_strides},
};

}  // namespace

bool folds_input(std::string_view algorithm) { return is_fold(algorithm) || algorithm == fold_gradient; }

ConvLoops loops_of(std::string_view algorithm, const Workload &workload, const Blocks &blocks) {
    if (!workload.depthwise.empty()) return pointwise_loops(workload);
    for (const Rewrite &rewrite : rewrites) {
        if (rewrite.algorithm == algorithm) return rewrite.of(conv_loops(workload), blocks);
    }
    return conv_loops(workload);
}

}  // namespace kiln
