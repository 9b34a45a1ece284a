#include "package/table_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace kiln {
namespace {

int feature_count(const Target &target) {
    return static_cast<int>(std::count(target.halide.begin(), target.halide.end(), '-'));
}

bool same_conditions(const Measurement &a, const Measurement &b) {
    return a.machine == b.machine && a.threads == b.threads && a.cache == b.cache && a.metric == b.metric;
}

bool are_comparable(std::span<const PackagedKernel> kernels) {
    const Measurement *first = kernels.front().measurement();
    return first && std::ranges::all_of(kernels, [&](const PackagedKernel &kernel) {
               return kernel.measurement() && same_conditions(*kernel.measurement(), *first);
           });
}

std::string why(const PackagedKernel &kernel, std::span<const PackagedKernel> all, bool measured) {
    if (all.size() == 1) return "the only kernel of this workload";
    if (!measured) {
        return "not all of the workload's kernels were measured alike: the one with more CPU features first";
    }
    const auto us = [](const PackagedKernel &k) { return k.measurement()->median * 1e-3; };
    if (kernel.place > 0) {
        const PackagedKernel &best = all.front();
        return fmt::format("{:.1f} us, {:.2f} times as long as {} on the same machine", us(kernel),
                           us(kernel) / us(best), best.target.halide);
    }
    return fmt::format("{:.1f} us, the fastest of {} on the same machine", us(kernel), all.size());
}

void order_workload(std::span<PackagedKernel> kernels) {
    const bool measured = are_comparable(kernels);
    if (measured) {
        std::ranges::stable_sort(kernels, {}, [](const PackagedKernel &k) { return k.measurement()->median; });
    }
    for (size_t i = 0; i < kernels.size(); i++) kernels[i].place = static_cast<int>(i);
    for (PackagedKernel &kernel : kernels) kernel.why_place = why(kernel, kernels, measured);
}

}  // namespace

std::vector<PackagedKernel> in_table_order(std::vector<PackagedKernel> kernels) {
    std::ranges::stable_sort(kernels, [](const PackagedKernel &a, const PackagedKernel &b) {
        const std::string key_a = key(a.workload.workload), key_b = key(b.workload.workload);
        return key_a != key_b ? key_a < key_b : feature_count(a.target) > feature_count(b.target);
    });
    for (auto first = kernels.begin(); first != kernels.end();) {
        const auto last = std::find_if(first, kernels.end(), [&](const PackagedKernel &kernel) {
            return kernel.workload.workload != first->workload.workload;
        });
        order_workload({first, last});
        first = last;
    }
    return kernels;
}

}  // namespace kiln
