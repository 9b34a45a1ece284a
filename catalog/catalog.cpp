#include "catalog/catalog.h"

#include "catalog/algorithm_rules.h"
#include "catalog/conv_algorithms.h"
#include "catalog/fold_algorithm.h"
#include "catalog/movement_algorithms.h"
#include "catalog/transform_algorithms.h"
#include "catalog/winograd_algorithm.h"

namespace kiln {
namespace {

template<int m>
Status winograd_applies(const Workload &w, const Target &) {
    if (Status s = winograd_applies(w, m); !s) return s;
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

Status fold_applies(const Workload &w, const Target &) { return fold_applies(w); }

Status fold_gradient_applies(const Workload &w, const Target &) { return fold_gradient_applies(w); }

Space fused_fold_space(const Workload &w, const Target &target, const Machine &machine) {
    return fold_space(w, fold_fused, target, machine);
}

Space prepared_fold_space(const Workload &w, const Target &target, const Machine &machine) {
    return fold_space(w, fold_prepared, target, machine);
}

template<Operation op>
Status movement_applies(const Workload &w, const Target &) {
    return movement_applies(w, op);
}

constexpr Algorithm algorithms[] = {
    {"phases", 1, "convolutions of the output's phases, which meet no hole of the input", phases_applies, phases_space},
    {"direct", 1, "the definition, blocked for registers and caches", direct_applies, direct_space},
    {"input_phases", 1, "convolutions without dilation on the input's phases", input_phases_applies,
     input_phases_space},
    {"kernel_gradient", 1, "sums of products over all pixels", kernel_gradient_applies, kernel_gradient_space},
    {fold_fused, 1, "blocks of pixels as channels, folded in the kernel", fold_applies, fused_fold_space},
    {fold_prepared, 1, "blocks of pixels as channels, folded by `prepare`", fold_applies, prepared_fold_space, false,
     true},
    {fold_gradient, 1, "the gradient of the kernel over blocks of pixels", fold_gradient_applies, fold_gradient_space},
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
    {"space_to_depth", 1, "blocks of pixels to channels", movement_applies<Operation::space_to_depth>, movement_space},
    {"depth_to_space", 1, "channels to blocks of pixels", movement_applies<Operation::depth_to_space>, movement_space},
    {"layout_transform", 1, "activations or weights in another layout", movement_applies<Operation::layout_transform>,
     movement_space},
    {"winograd_input_transform", 1, "B^T D B of every tile", transform_applies<Operation::winograd_input_transform>,
     transform_space, true},
    {"winograd_filter_transform", 1, "G K G^T of every kernel", transform_applies<Operation::winograd_filter_transform>,
     transform_space, true},
    {"winograd_output_transform", 1, "A^T M A of every tile", transform_applies<Operation::winograd_output_transform>,
     transform_space, true},
};

}  // namespace

void Refusals::add(std::string_view algorithm, const std::string &reason) {
    for (auto &[known, names] : names_by_reason_) {
        if (known != reason) continue;
        names += ", " + std::string(algorithm);
        return;
    }
    names_by_reason_.emplace_back(reason, algorithm);
}

std::string Refusals::text() const {
    std::string text;
    for (const auto &[reason, names] : names_by_reason_) text += (text.empty() ? "" : "; ") + names + ": " + reason;
    return text;
}

std::span<const Algorithm> catalog() { return algorithms; }

const Algorithm *find_algorithm(std::string_view name) {
    for (const Algorithm &algorithm : algorithms) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

std::vector<const Algorithm *> by_preference(const Workload &workload, const Target &target) {
    std::vector<const Algorithm *> order;
    for (const AlgorithmRule &rule : algorithm_rules()) {
        const Algorithm *algorithm = find_algorithm(rule.algorithm);
        if (!algorithm->applies(workload, target) || !rule.preferred(workload, target)) continue;
        order.push_back(algorithm);
        break;
    }
    for (const Algorithm &algorithm : algorithms) {
        if (order.empty() || &algorithm != order.front()) order.push_back(&algorithm);
    }
    return order;
}

Result<Candidate> default_candidate(const Workload &workload, const Target &target, const Machine &machine) {
    Refusals refusals;
    for (const Algorithm *algorithm : by_preference(workload, target)) {
        const Status applies = algorithm->applies(workload, target);
        if (applies) return algorithm->space(workload, target, machine).default_candidate();
        refusals.add(algorithm->name, applies.error().message);
    }
    return unsupported(refusals.text());
}

Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target,
                       const Machine &machine) {
    const Algorithm *algorithm = find_algorithm(candidate.algorithm);
    if (!algorithm) return unsupported("unknown algorithm `" + candidate.algorithm + "`");
    if (Status s = algorithm->applies(workload, target); !s) return s;
    return algorithm->space(workload, target, machine).check(candidate);
}

}  // namespace kiln
