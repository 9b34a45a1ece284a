#include "package/network/network_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "package/table_order.h"

namespace kiln {
namespace {

using KernelsByKey = std::map<std::pair<std::string, std::string>, const PackagedKernel *>;  // workload's, target's

KernelsByKey by_key(const std::vector<PackagedKernel> &kernels) {
    KernelsByKey found;
    for (const PackagedKernel &kernel : kernels) {
        found.emplace(std::pair(key(kernel.workload.workload), kernel.target.halide), &kernel);
    }
    return found;
}

// The sum of a variant's measured times; nothing where a kernel was not measured like the others.
std::optional<double> measured_ns(const VariantKernels &variant, const Measurement *like) {
    double sum = 0;
    for (const PackagedKernel *kernel : variant.steps) {
        if (kernel == nullptr) continue;
        const Measurement *m = kernel->measurement();
        if (m == nullptr || like == nullptr || !same_conditions(*m, *like)) return {};
        sum += m->median;
    }
    return sum;
}

const Measurement *first_measurement(const VariantKernels &variant) {
    const auto kernel = std::ranges::find_if(variant.steps, [](const PackagedKernel *k) { return k != nullptr; });
    return kernel == variant.steps.end() ? nullptr : (*kernel)->measurement();
}

void order(std::vector<VariantKernels> *variants) {
    std::ranges::stable_sort(*variants, [](const VariantKernels &a, const VariantKernels &b) {
        return feature_count(a.target) > feature_count(b.target);
    });
    if (variants->size() == 1) {
        variants->front().why_place = "the only variant of this network";
        return;
    }
    std::vector<std::pair<double, VariantKernels>> timed;
    for (const VariantKernels &variant : *variants) {
        const std::optional<double> ns = measured_ns(variant, first_measurement(variants->front()));
        if (!ns) break;
        timed.emplace_back(*ns, variant);
    }
    if (timed.size() != variants->size()) {
        for (VariantKernels &variant : *variants) {
            variant.why_place = "not all kernels were measured alike: the variant with more CPU features first";
        }
        return;
    }
    std::ranges::stable_sort(timed, {}, &std::pair<double, VariantKernels>::first);
    for (size_t i = 0; i < timed.size(); i++) {
        (*variants)[i] = std::move(timed[i].second);
        (*variants)[i].why_place =
            fmt::format("{:.1f} us, the sum of its kernels on the machine that measured all", timed[i].first * 1e-3);
    }
}

}  // namespace

Result<std::vector<VariantKernels>> network_variants(const network::Program &program,
                                                     const std::vector<Target> &targets,
                                                     const std::vector<PackagedKernel> &kernels) {
    const KernelsByKey found = by_key(kernels);
    std::vector<VariantKernels> variants;
    std::string first_missing;
    int missing = 0;
    for (const Target &target : targets) {
        VariantKernels &variant = variants.emplace_back(VariantKernels{target, {}, {}});
        for (const network::Step &step : program.steps) {
            const auto *call = std::get_if<network::KernelCall>(&step.work);
            const auto kernel = call ? found.find({key(call->workload), target.halide}) : found.end();
            variant.steps.push_back(kernel == found.end() ? nullptr : kernel->second);
            if (!call || variant.steps.back()) continue;
            if (missing++ == 0) first_missing = fmt::format("{} for {}", step.name, target.halide);
        }
    }
    if (missing > 0) {
        return unsupported(fmt::format("no kernel computes {}{}, so no package was written", first_missing,
                                       missing > 1 ? fmt::format(" and {} more steps", missing - 1) : ""));
    }
    order(&variants);
    return variants;
}

}  // namespace kiln
