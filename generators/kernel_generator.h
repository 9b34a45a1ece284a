// What all generators share: their parameters, read once, and buffers whose shapes are compiled in.
//
// A generator named after an algorithm makes kiln_compute, one with the suffix _pack makes kiln_pack, one with _prepare
// kiln_prepare. All take the same three parameters; the main program has validated them against the catalog before.
#pragma once

#include <Halide.h>

#include <string>
#include <vector>

#include "generators/halide_type.h"
#include "schedules/apply/extent.h"
#include "schedules/candidate.h"
#include "workload/target.h"
#include "workload/workload.h"

namespace kiln {

template<typename Derived>
class KernelGenerator : public Halide::Generator<Derived> {
public:
    Halide::GeneratorParam<std::string> workload_key{"workload", ""};
    Halide::GeneratorParam<std::string> candidate_text{"candidate", ""};
    Halide::GeneratorParam<std::string> target_text{"kiln_target", ""};

protected:
    void read_parameters() {
        workload = *parse_workload_key(workload_key.value());
        candidate = *parse_candidate(candidate_text.value());
        target_of_kiln = {target_text.value(), 1};
    }

    Workload workload;
    Candidate candidate;
    Target target_of_kiln;
};

// Dense, from 0, with these extents, innermost first: all of it is known when compiling.
template<typename BufferParameter>
void fix(BufferParameter &buffer, const std::vector<int64_t> &extents) {
    int64_t stride = 1;
    for (size_t d = 0; d < extents.size(); d++) {
        buffer.dim(static_cast<int>(d)).set_bounds(0, extent(extents[d])).set_stride(extent(stride));
        stride *= extents[d];
    }
}

}  // namespace kiln
