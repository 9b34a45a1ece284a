#include "compare/roofline.h"

#include <algorithm>

#include "workload/signature.h"

namespace kiln {
namespace {

// Bandwidths are measured on half of what a level holds, for each thread.
const Bandwidth &level_of(double bytes, const std::vector<Bandwidth> &bandwidths, int threads) {
    for (const Bandwidth &level : bandwidths) {
        if (bytes <= 2.0 * static_cast<double>(level.working_set_bytes) * threads) return level;
    }
    return bandwidths.back();
}

}  // namespace

double gflops(const Workload &workload, const Timing &timing) {
    return static_cast<double>(flop_count(workload)) / timing.median_ns();
}

std::optional<Traffic> traffic(const Workload &workload, const std::vector<Bandwidth> &bandwidths, int threads) {
    if (bandwidths.empty()) return std::nullopt;
    const Signature tensors = signature(workload);
    Traffic all{.bytes_written = static_cast<double>(tensors.result.bytes())};
    for (const TensorForm &operand : tensors.operands) all.bytes_read += static_cast<double>(operand.bytes());
    const Bandwidth &level = level_of(all.bytes_read + all.bytes_written, bandwidths, threads);
    // What is written has a byte read beside it, as in a copy. The rest is only read, or only written: no faster than a
    // copy does both.
    const double copied = std::min(all.bytes_read, all.bytes_written);
    all.level = level.level;
    all.ns = (copied + all.bytes_written) / level.copy_gb_s + (all.bytes_read - copied) / level.read_gb_s;
    return all;
}

bool bytes_decide(const Workload &workload, const FmaPeak &peak, const std::vector<Bandwidth> &bandwidths,
                  int64_t l2_bytes) {
    if (is_data_movement(workload.op)) return true;
    if (!is_convolution(workload.op) || bandwidths.empty()) return false;
    // How much of a shared L3 the layer gets is not known: its bytes are taken to come from memory.
    const std::optional<Traffic> moved = traffic(workload, {bandwidths.back()}, 1);
    return moved->bytes_read + moved->bytes_written > double(l2_bytes) &&
           static_cast<double>(flop_count(workload)) / peak.gflops < moved->ns;
}

std::optional<double> roofline_gflops(const Workload &workload, const FmaPeak &peak,
                                      const std::vector<Bandwidth> &bandwidths, int threads) {
    const double flops = static_cast<double>(flop_count(workload));
    if (flops == 0) return std::nullopt;
    const std::optional<Traffic> moved = traffic(workload, bandwidths, threads);
    return moved ? std::min(peak.gflops, flops / moved->ns) : peak.gflops;
}

}  // namespace kiln
