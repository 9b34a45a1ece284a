#include "catalog/fold_algorithm.h"

#include "catalog/conv_checks.h"
#include "catalog/conv_rewrites.h"
#include "rewrites/panels.h"
#include "schedules/folded_space.h"
#include "schedules/spaces/cpu_tile_space.h"
#include "schedules/spaces/gradient_tile_space.h"

namespace kiln {

namespace {

Status fold_applies_to(Operation operation, const Workload &w) {
    if (Status s = convolution_applies(w, {operation}); !s) return s;
    const ConvLoops whole = conv_loops(w);
    if (Status s = folds(w, whole); !s) return s;
    for (const Blocks &blocks : possible_blocks(whole)) {
        if (Status s = copies_fit(folded(whole, blocks)); !s) return s;
    }
    return {};
}

}  // namespace

Status fold_applies(std::string_view, const Workload &w, const Target &) { return fold_applies_to(Operation::conv, w); }

Space fold_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return folded_space(base, conv_loops(w), [&](const Blocks &blocks) {
        return cpu_tile_space(base, gathered(loops_of(base.algorithm, w, target, blocks)), target, core);
    });
}

Status fold_gradient_applies(std::string_view, const Workload &w, const Target &) {
    return fold_applies_to(Operation::conv_backprop_kernel, w);
}

Space fold_gradient_space(const Candidate &base, const Workload &w, const Target &target, const Core &core) {
    return folded_space(base, conv_loops(w), [&](const Blocks &blocks) {
        return gradient_tile_space(base, loops_of(base.algorithm, w, target, blocks), target, core);
    });
}

}  // namespace kiln
