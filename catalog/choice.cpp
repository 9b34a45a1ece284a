// Questions to the catalog's table. The table has a file of its own (catalog/catalog.cpp), so that a test can bring another
// one (tests/generators/skeleton).
#include <algorithm>

#include "catalog/algorithm_rules.h"
#include "catalog/catalog.h"
#include "schedules/spaces/cpu_tile_rules.h"
#include "workload/error_budget.h"

namespace kiln {

namespace {

std::string joined_or_counted(const std::vector<std::string> &names) {
    constexpr size_t most_names = 5;
    if (names.size() > most_names) return std::to_string(names.size()) + " algorithms";
    std::string text;
    for (const std::string &name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

void Refusals::add(std::string_view algorithm, const std::string &reason) {
    for (auto &[known, names] : names_by_reason_) {
        if (known != reason) continue;
        names.emplace_back(algorithm);
        return;
    }
    names_by_reason_.emplace_back(reason, std::vector{std::string(algorithm)});
}

std::string Refusals::text() const {
    // A reason that all of many have needs no names.
    if (names_by_reason_.size() == 1 && names_by_reason_[0].second.size() > 1) return names_by_reason_[0].first;
    std::string text;
    for (const auto &[reason, names] : names_by_reason_) {
        text += (text.empty() ? "" : "; ") + joined_or_counted(names) + ": " + reason;
    }
    return text;
}

namespace {

// Nests have floats in software there (generators/c/c_float_functions.h), a step at a time: sums of products would take forever.
Status fits_soft_core(const Workload &w) {
    if (is_quantized(w) || is_nest(w.op)) return {};
    return unsupported("a soft core has integers only; needs a quantized convolution of i8 or u8");
}

}  // namespace

Status Algorithm::applies(const Workload &workload, const Target &target) const {
    if (is_soft_core(target)) {
        if (Status s = fits_soft_core(workload); !s) return s;
    }
    if (!workload.prologue.empty() && !has_prologue) return unsupported("prologue is not what this algorithm computes");
    if (!workload.depthwise.empty() && !has_depthwise) {
        return unsupported("a depthwise convolution in front is not what this algorithm computes");
    }
    return conditions(name, workload, target);
}

Space Algorithm::space(const Workload &workload, const Target &target, const Core &core) const {
    Candidate base;
    base.algorithm = name;
    base.algorithm_version = version;
    return schedules(base, workload, target, core);
}

const Algorithm *find_algorithm(std::string_view name) {
    for (const Algorithm &algorithm : catalog()) {
        if (algorithm.name == name) return &algorithm;
    }
    return nullptr;
}

std::vector<const Algorithm *> by_preference(const Workload &w, const Target &target, const Core &core,
                                             double error_budget) {
    std::vector<const Algorithm *> order;
    const auto is_there = [&](const Algorithm *algorithm) { return std::ranges::count(order, algorithm) > 0; };
    for (const AlgorithmRule &rule : algorithm_rules()) {
        const Algorithm *algorithm = find_algorithm(rule.algorithm);
        if (!algorithm || is_there(algorithm)) continue;
        if (algorithm->applies(w, target) && rule.preferred(w, target, core)) order.push_back(algorithm);
    }
    for (const Algorithm &algorithm : catalog()) {
        if (!is_there(&algorithm)) order.push_back(&algorithm);
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

bool reads_planes_as_fast(const Workload &w, const Target &target, const Core &core, double error_budget) {
    const bool is_float = w.dtype == DType::f32;
    if (w.op != Operation::conv || !is_float || w.feature_group_count != 1 || vector_lanes(target) < 8) return false;
    if (w.input.back() > few_planes || w.input_layout.kind != ActivationLayout::Kind::nchw) return false;
    Workload side_by_side = w;
    side_by_side.input_layout = {};
    const auto sums_directly = [&](const Workload &of) {
        const Result<Candidate> untuned = default_candidate(of, target, core, error_budget);
        return untuned && untuned->algorithm == "direct";
    };
    return sums_directly(w) && sums_directly(side_by_side);
}

Status check_candidate(const Candidate &candidate, const Workload &workload, const Target &target) {
    const Algorithm *algorithm = find_algorithm(candidate.algorithm);
    if (!algorithm) return unsupported("unknown algorithm `" + candidate.algorithm + "`");
    if (Status s = algorithm->applies(workload, target); !s) return s;
    // Caches are the part of a core that is not the target's. They move defaults, and limits for a default that is beyond one.
    return algorithm->space(workload, target, core_of(Machine(), target)).check(candidate);
}

}  // namespace kiln
