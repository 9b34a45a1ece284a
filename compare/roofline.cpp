#include "compare/roofline.h"

#include <algorithm>

#include "workload/signature.h"

namespace kiln {

double gflops(const Workload &workload, const Timing &timing) {
    return static_cast<double>(flop_count(workload)) / timing.median_ns();
}

std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads) {
    const double flops = static_cast<double>(flop_count(workload));
    if (flops == 0) return std::nullopt;
    const Signature tensors = signature(workload);
    const auto size = [](const TensorForm &form) {
        return static_cast<double>(elements(form.shape()) * size_of(form.dtype));
    };
    const double written = size(tensors.result);
    double read = 0;
    for (const TensorForm &operand : tensors.operands) read += size(operand);
    const double copied = std::min(read, written);
    double limit = peak.gflops;
    for (const Bandwidth &level : bandwidths) {
        // Bandwidths are measured on half of what a level holds, for each thread.
        const bool holds = read + written <= 2.0 * static_cast<double>(level.working_set_bytes) * threads;
        if (!holds && &level != &bandwidths.back()) continue;
        const double ns = (2 * copied + 2 * (written - copied)) / level.copy_gb_s + (read - copied) / level.read_gb_s;
        limit = std::min(limit, flops / ns);
        break;
    }
    return limit;
}

}  // namespace kiln
