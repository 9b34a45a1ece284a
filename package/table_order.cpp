#include "package/table_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace kiln {
namespace {

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

int feature_count(const Target &target) {
    return static_cast<int>(std::count(target.halide.begin(), target.halide.end(), '-'));
}

bool same_conditions(const Measurement &a, const Measurement &b) {
    return a.machine == b.machine && a.threads == b.threads && a.cache == b.cache && a.metric == b.metric;
}

std::vector<PackagedKernel> in_table_order(std::vector<PackagedKernel> kernels) {
    struct Keyed {
        std::string key;
        PackagedKernel kernel;
    };
    std::vector<Keyed> keyed;
    for (PackagedKernel &kernel : kernels) keyed.push_back({key(kernel.workload.workload), std::move(kernel)});
    std::ranges::stable_sort(keyed, [](const Keyed &a, const Keyed &b) {
        return a.key != b.key ? a.key < b.key : feature_count(a.kernel.target) > feature_count(b.kernel.target);
    });
    for (size_t i = 0; i < keyed.size(); i++) kernels[i] = std::move(keyed[i].kernel);
    for (size_t first = 0, next = 0; first < keyed.size(); first = next) {
        while (next < keyed.size() && keyed[next].key == keyed[first].key) next++;
        order_workload(std::span(kernels).subspan(first, next - first));
    }
    return kernels;
}

}  // namespace kiln
