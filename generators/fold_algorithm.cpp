#include "generators/fold_algorithm.h"

#include "generators/conv_algorithms.h"
#include "schedules/folded_shape.h"

namespace kiln {

Status fold_applies(const Workload &w) {
    if (Status s = convolution_applies(w, {Operation::conv}); !s) return s;
    const ConvShape whole = conv_shape(w);
    if (Status s = folds(w, whole); !s) return s;
    for (const Blocks &blocks : possible_blocks(whole)) {
        if (Status s = copies_fit(folded_shape(whole, blocks)); !s) return s;
    }
    return {};
}

Space fold_space(const Workload &w, std::string_view algorithm, const Target &target, const Machine &machine) {
    Candidate base;
    base.algorithm = algorithm;
    return folded_space(base, conv_shape(w), algorithm == fold_prepared, target, machine);
}

}  // namespace kiln
