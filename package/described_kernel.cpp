#include "package/described_kernel.h"

namespace kiln {

Result<std::vector<DescribedKernel>> describe_kernels(const Package &package) {
    std::vector<DescribedKernel> described;
    for (const PackagedKernel &kernel : package.kernels) {
        const NamedWorkload &w = kernel.workload;
        const Result<InterfaceForm> form = interface_form(w.workload);
        if (!form) return form.error();
        const Result<uint64_t> features = required_cpu_features(kernel.target);
        if (!features) return features.error();
        described.push_back({.kernel = &kernel,
                             .key = key(w.workload),
                             .layer = w.list.empty() ? w.name : w.list + "/" + w.name,
                             .form = *form,
                             .cpu_features = *features});
    }
    return described;
}

}  // namespace kiln
