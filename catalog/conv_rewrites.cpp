#include "catalog/conv_rewrites.h"

#include "catalog/fold_algorithm.h"
#include "catalog/matrix/matrix_algorithm.h"
#include "catalog/quantized_algorithm.h"
#include "rewrites/fold.h"
#include "rewrites/input_phases.h"
#include "rewrites/output_phases.h"
#include "rewrites/panels.h"

namespace kiln {
namespace {

struct Asked {
    const Workload &workload;
    const Target &target;
    const Blocks &blocks;

    ConvLoops stated() const { return conv_loops(workload); }
};

struct Rewrite {
    std::string_view algorithm;
    ConvLoops (*of)(const Asked &);
};

ConvLoops of_pixels(const Asked &asked) { return pixels_of_one_row(asked.stated()); }
ConvLoops of_output_phases(const Asked &asked) { return output_phases(asked.stated()); }
ConvLoops of_input_phases(const Asked &asked) { return input_phases(asked.stated()); }
ConvLoops of_unit_strides(const Asked &asked) { return unit_strides(asked.stated()); }
ConvLoops of_fold(const Asked &asked) { return folded(asked.stated(), asked.blocks); }
ConvLoops of_prepared_fold(const Asked &asked) { return prepared(asked.stated(), asked.blocks); }
ConvLoops of_parts(const Asked &asked) { return quantized_loops(asked.workload, asked.target); }
ConvLoops of_matrices(const Asked &asked) { return matrix_loops(asked.workload); }

// Others compute the convolution as it is stated.
constexpr Rewrite rewrites[] = {
    {"direct", of_pixels},
    {"phases", of_output_phases},
    {"input_phases", of_input_phases},
    {"quantized", of_parts},
    {"matrix", of_matrices},
    {fold_fused, of_fold},
    {fold_gradient, of_fold},
    {fold_prepared, of_prepared_fold},
    {"winograd_2", of_unit_strides},
    {"winograd_3", of_unit_strides},
    {"winograd_4", of_unit_strides},
    {"winograd_5", of_unit_strides},
    {"winograd_6", of_unit_strides},
    {"strassen", of_unit_strides},
    {"quantized_winograd_2", of_unit_strides},
    {"quantized_winograd_3", of_unit_strides},
};

}  // namespace

bool folds_input(std::string_view algorithm) { return is_fold(algorithm) || algorithm == fold_gradient; }

ConvLoops loops_of(std::string_view algorithm, const Workload &workload, const Target &target, const Blocks &blocks) {
    if (!workload.depthwise.empty()) return pointwise_loops(workload);
    for (const Rewrite &rewrite : rewrites) {
        if (rewrite.algorithm == algorithm) return rewrite.of({workload, target, blocks});
    }
    return conv_loops(workload);
}

}  // namespace kiln
