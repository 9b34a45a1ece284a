#include "generators/catalog.h"

#include <limits>

#include "generators/transform_algorithms.h"
#include "generators/winograd_algorithm.h"
#include "schedules/conv_shape.h"
#include "schedules/cpu_tile_space.h"

namespace kiln {
namespace {

// What no algorithm of this version computes, with the reason in words that a user can act on.
Status f32_forward(const Workload &w) {
    if (w.op != Operation::conv) return unsupported("operation " + op_name(w) + " is not supported yet");
    if (w.dtype != DType::f32 || w.output_dtype != DType::f32) {
        return unsupported("dtype " + std::string(name(w.dtype)) + " to " + std::string(name(w.output_dtype)) +
                           " is not supported yet, only f32");
    }
    if (w.batch_group_count != 1) return unsupported("batch_group_count above 1 is not supported yet");
    for (int64_t d : w.lhs_dilation) {
        if (d != 1) return unsupported("lhs_dilation above 1 is not supported yet");
    }
    return {};
}

// Kernels index with 32 bits.
Status fits_32_bits(const Workload &w) {
    constexpr int64_t limit = std::numeric_limits<int32_t>::max();
    for (const auto &[what, shape] : {std::pair{"input", w.input}, {"kernel", w.kernel}, {"output", output_shape(w)}}) {
        if (elements(shape) > limit - 4096) {  // room for the last panel's padding lanes
            return unsupported(std::string(what) + " has more than 2^31 elements, which 32-bit indices cannot reach");
        }
    }
    for (int d = 0; d < w.spatial_rank; d++) {
        const int64_t reach = (output_shape(w)[d + 1] - 1) * w.strides[d] + (w.kernel[d] - 1) * w.rhs_dilation[d];
        if (reach + std::abs(w.padding[d].lo) + std::abs(w.padding[d].hi) > limit) {
            return unsupported("coordinates of the padded input need more than 32 bits");
        }
    }
    return {};
}

Status direct_applies(const Workload &w, const Target &) {
    if (Status s = f32_forward(w); !s) return s;
    if (elements(output_shape(w)) == 0) return unsupported("the output is empty: there is nothing to compute");
    return fits_32_bits(w);
}

Space direct_space(const Workload &w, const Target &target, const Machine &machine) {
    Candidate base;
    base.algorithm = "direct";
    return cpu_tile_space(base, conv_shape(w), target, machine);
}

template<int m>
Status winograd_applies(const Workload &w, const Target &) {
    if (Status s = winograd_applies(w, m); !s) return s;
    if (elements(output_shape(w)) == 0) return unsupported("the output is empty: there is nothing to compute");
    return fits_32_bits(w);
}

template<int m>
Space winograd_space(const Workload &w, const Target &target, const Machine &machine) {
    return winograd_space(w, m, target, machine);
}

template<Operation op>
Status transform_applies(const Workload &w, const Target &) {
    return transform_applies(w, op);
}

Space transform_space(const Workload &w, const Target &target, const Machine &) { return transform_space(w, target); }

constexpr Algorithm algorithms[] = {
    {"direct", 1, "the definition, blocked for registers and caches", direct_applies, direct_space},
    {"winograd_4", winograd_algorithm_version, "Winograd, 4 outputs a tile side", winograd_applies<4>,
     winograd_space<4>, true},
    {"winograd_2", winograd_algorithm_version, "Winograd, 2 outputs a tile side", winograd_applies<2>,
     winograd_space<2>, true},
    {"winograd_3", winograd_algorithm_version, "Winograd, 3 outputs a tile side", winograd_applies<3>,
     winograd_space<3>, true},
    {"winograd_5", winograd_algorithm_version, "Winograd, 5 outputs a tile side", winograd_applies<5>,
     winograd_space<5>, true},
    {"winograd_6", winograd_algorithm_version, "Winograd, 6 outputs a tile side", winograd_applies<6>,
     winograd_space<6>, true},
    {"winograd_input_transform", 1, "B^T D B of every tile", transform_applies<Operation::winograd_input_transform>,
     transform_space, true},
    {"winograd_filter_transform", 1, "G K G^T of every kernel", transform_applies<Operation::winograd_filter_transform>,
     transform_space, true},
    {"winograd_output_transform", 1, "A^T M A of every tile", transform_applies<Operation::winograd_output_transform>,
     transform_space, true},
};

}  // namespace

std::span<const Algorithm> catalog() { return algorithms; }

const Algorithm *find_algorithm(std::string_view name) {
    for (const Algorithm &algorithm : algorithms) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

Result<Candidate> default_candidate(const Workload &workload, const Target &target, const Machine &machine) {
    std::string reasons;
    for (const Algorithm &algorithm : algorithms) {
        const Status applies = algorithm.applies(workload, target);
        if (applies) return algorithm.space(workload, target, machine).default_candidate();
        reasons += (reasons.empty() ? "" : "; ") + std::string(algorithm.name) + ": " + applies.error().message;
    }
    return unsupported(reasons);
}

Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target,
                       const Machine &machine) {
    const Algorithm *algorithm = find_algorithm(candidate.algorithm);
    if (!algorithm) return unsupported("unknown algorithm `" + candidate.algorithm + "`");
    if (Status s = algorithm->applies(workload, target); !s) return s;
    return algorithm->space(workload, target, machine).check(candidate);
}

}  // namespace kiln
