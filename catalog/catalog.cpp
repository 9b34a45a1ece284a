#include "catalog/catalog.h"

#include <algorithm>

#include "catalog/algorithm_rules.h"
#include "catalog/conv_algorithms.h"
#include "catalog/fold_algorithm.h"
#include "catalog/movement_algorithms.h"
#include "catalog/transform_algorithms.h"
#include "catalog/winograd_algorithm.h"
#include "workload/error_budget.h"

namespace kiln {
namespace {

constexpr Algorithm algorithms[] = {
    {"phases", 1, "convolutions of the output's phases, which meet no hole of the input", phases_applies, sum_space},
    {"direct", 1, "the definition, blocked for registers and caches", direct_applies, sum_space},
    {"input_phases", 1, "convolutions without dilation on the input's phases", input_phases_applies, sum_space},
    {"kernel_gradient", 1, "sums of products over all pixels", kernel_gradient_applies, kernel_gradient_space},
    {fold_fused, 1, "blocks of pixels as channels, folded in the kernel", fold_applies, fold_space},
    {fold_prepared, 1, "blocks of pixels as channels, folded by `prepare`", fold_applies, fold_space, false, true},
    {fold_gradient, 1, "the gradient of the kernel over blocks of pixels", fold_gradient_applies, fold_gradient_space},
    {"winograd_4", 1, "Winograd, 4 outputs a tile side", winograd_applies, winograd_space, true},
    {"winograd_2", 1, "Winograd, 2 outputs a tile side", winograd_applies, winograd_space, true},
    {"winograd_3", 1, "Winograd, 3 outputs a tile side", winograd_applies, winograd_space, true},
    {"winograd_5", 1, "Winograd, 5 outputs a tile side", winograd_applies, winograd_space, true},
    {"winograd_6", 1, "Winograd, 6 outputs a tile side", winograd_applies, winograd_space, true},
    {"space_to_depth", 1, "blocks of pixels to channels", movement_applies, movement_space},
    {"depth_to_space", 1, "channels to blocks of pixels", movement_applies, movement_space},
    {"layout_transform", 1, "activations or weights in another layout", movement_applies, movement_space},
    {"winograd_input_transform", 1, "B^T D B of every tile", transform_applies, transform_space, true},
    {"winograd_filter_transform", 1, "G K G^T of every kernel", transform_applies, transform_space, true},
    {"winograd_output_transform", 1, "A^T M A of every tile", transform_applies, transform_space, true},
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

Space Algorithm::space(const Workload &workload, const Target &target, const Core &core) const {
    Candidate base;
    base.algorithm = name;
    base.algorithm_version = version;
    return schedules(base, workload, target, core);
}

std::span<const Algorithm> catalog() { return algorithms; }

const Algorithm *find_algorithm(std::string_view name) {
    for (const Algorithm &algorithm : algorithms) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

std::vector<const Algorithm *> by_preference(const Workload &w, const Target &target, const Core &core,
                                             double error_budget) {
    std::vector<const Algorithm *> order;
    for (const AlgorithmRule &rule : algorithm_rules()) {
        const Algorithm *algorithm = find_algorithm(rule.algorithm);
        if (!algorithm->applies(w, target) || !rule.preferred(w, target, core)) continue;
        order.push_back(algorithm);
        break;
    }
    for (const Algorithm &algorithm : algorithms) {
        if (order.empty() || &algorithm != order.front()) order.push_back(&algorithm);
    }
    if (error_budget < default_error_budget) {
        std::stable_partition(order.begin(), order.end(), [](const Algorithm *a) { return !a->reassociates; });
    }
    return order;
}

Result<Candidate> default_candidate(const Workload &w, const Target &target, const Core &core, double error_budget) {
    Refusals refusals;
    for (const Algorithm *algorithm : by_preference(w, target, core, error_budget)) {
        const Status applies = algorithm->applies(w, target);
        if (applies) return algorithm->space(w, target, core).default_candidate();
        refusals.add(algorithm->name, applies.error().message);
    }
    return unsupported(refusals.text());
}

Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target) {
    const Algorithm *algorithm = find_algorithm(candidate.algorithm);
    if (!algorithm) return unsupported("unknown algorithm `" + candidate.algorithm + "`");
    if (Status s = algorithm->applies(workload, target); !s) return s;
    // Caches, the part of a core that is not the target's, move defaults only.
    return algorithm->space(workload, target, core_of(Machine(), target)).check(candidate);
}

}  // namespace kiln
