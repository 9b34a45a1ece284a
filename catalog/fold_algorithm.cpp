#include "catalog/fold_algorithm.h"

#include "catalog/conv_algorithms.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/folded_shape.h"
#include "schedules/spaces/gradient_tile_space.h"

namespace kiln {

namespace {

Status fold_applies_to(Operation operation, const Workload &w) {
    if (Status s = convolution_applies(w, {operation}); !s) return s;
    const ConvShape whole = conv_shape(w);
    if (Status s = folds(w, whole); !s) return s;
    for (const Blocks &blocks : possible_blocks(whole)) {
        if (Status s = copies_fit(folded_shape(whole, blocks)); !s) return s;
    }
    return {};
}

}  // namespace

Status fold_applies(const Workload &w) { return fold_applies_to(Operation::conv, w); }

Status fold_gradient_applies(const Workload &w) { return fold_applies_to(Operation::conv_backprop_kernel, w); }

Space fold_gradient_space(const Workload &w, const Target &target, const Machine &machine) {
    Candidate base;
    base.algorithm = fold_gradient;
    return folded_space(base, conv_shape(w), false,
                        [&](const ConvShape &shape) { return gradient_tile_space(base, shape, target, machine); });
}

Space fold_space(const Workload &w, std::string_view algorithm, const Target &target, const Machine &machine) {
    Candidate base;
    base.algorithm = algorithm;
    return folded_space(base, conv_shape(w), algorithm == fold_prepared, [&](const ConvShape &shape) {
        return cpu_tile_space(base, gathered_shape(shape), target, machine);
    });
}

}  // namespace kiln
