#include "cli/tune/tune_results.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TunedWorkload tuned(const char *name, double odds, std::optional<double> best_ns) {
    TunedWorkload result;
    result.workload = {.list = "net", .name = name, .odds = odds};
    result.workload.count = 2;
    result.best_ns = best_ns;
    result.default_ns = best_ns;
    if (!best_ns) result.problem = "no time for a trial";
    return result;
}

TEST(TuneResults, OnlyLayersThatAreUsedMustHaveAKernel) {
    const TuneReport report{.workloads = {tuned("conv1", 1, 1e6), tuned("conv1 NCHW", 0, {}), tuned("conv2", 1, {}),
                                          tuned("conv2 NCHW", 0.4, {}), tuned("conv3 NCHW", 0, 1e6)}};
    TuneReport failed = report;
    failed.workloads[1].trials = 3;
    EXPECT_EQ(layers_without_kernel(failed).lines.size(), 2u);
    const LayersWithoutKernel without = layers_without_kernel(report);
    EXPECT_EQ(without.lines, (std::vector<std::string>{"net/conv2: no time for a trial"}));
    EXPECT_EQ(without.unused, 2u);
    EXPECT_FALSE(network_summary(report));
}

TEST(TuneResults, ANetworkSpendsNothingInLayoutsThatItDoesNotUse) {
    const TuneReport report{
        .workloads = {tuned("conv1", 1, 1e6), tuned("conv1 NCHW", 0, {}), tuned("conv3 NCHW", 0, 1e6)}};
    EXPECT_EQ(layers_without_kernel(report).lines, std::vector<std::string>());
    EXPECT_EQ(network_summary(report),
              "net: 2.000 ms in its layers, 2.000 ms with default kernels (1.00 times as long)");
}

}  // namespace
}  // namespace kiln
