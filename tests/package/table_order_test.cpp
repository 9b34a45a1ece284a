#include "package/table_order.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

constexpr const char *everywhere = "x86-64-linux",
                     *nowhere = "x86-64-linux-avx-avx2-avx512-avx512_sapphirerapids-avx512_zen4";

PackagedKernel kernel(const std::string &target = everywhere) {
    PackagedKernel k;
    k.workload = {"net", "layer", 1, convolution({1, 1, 1, 1}, {1, 1, 1, 1})};
    k.target = {target, 1};
    return k;
}

// As if it had been measured on this machine.
PackagedKernel measured(PackagedKernel k, double median) {
    k.best.emplace();
    k.best->measurement.machine = "this";
    k.best->measurement.median = median;
    return k;
}

TEST(TableOrder, TheBestKernelOfAWorkloadComesFirst) {
    const std::string narrow = "x86-64-linux-sse41";
    const PackagedKernel slow = measured(kernel(), 200), fast = measured(kernel(), 100);
    const auto targets = [](std::vector<PackagedKernel> kernels) {
        std::string text;
        for (const PackagedKernel &k : in_table_order(std::move(kernels))) text += k.target.halide.substr(12) + ";";
        return text;
    };
    const auto on = [](PackagedKernel k, const std::string &target) {
        k.target.halide = target;
        return k;
    };
    EXPECT_EQ(targets({kernel(), on(kernel(), narrow)}), "-sse41;;") << "unmeasured: the wider one";
    EXPECT_EQ(targets({on(fast, everywhere), on(slow, narrow)}), ";-sse41;") << "measured: the faster one";
    EXPECT_EQ(targets({on(slow, everywhere), on(fast, narrow)}), "-sse41;;");
    PackagedKernel elsewhere = on(slow, narrow);
    elsewhere.best->measurement.machine = "another";
    EXPECT_EQ(targets({on(fast, everywhere), elsewhere}), "-sse41;;") << "not comparable: the wider one";
}

TEST(TableOrder, SaysWhyAKernelIsAtItsPlace) {
    const auto places = [](std::vector<PackagedKernel> kernels) {
        std::string text;
        for (const PackagedKernel &k : in_table_order(std::move(kernels))) {
            text += std::to_string(k.place) + " " + k.why_place + "\n";
        }
        return text;
    };
    EXPECT_EQ(places({kernel()}), "0 the only kernel of this workload\n");
    EXPECT_EQ(places({measured(kernel(nowhere), 20000), measured(kernel(), 10000)}),
              "0 10.0 us, the fastest of 2 on the same machine\n"
              "1 20.0 us, 2.00 times as long as x86-64-linux on the same machine\n");
    EXPECT_EQ(places({measured(kernel(), 10000), kernel(nowhere)}),
              "0 not all of the workload's kernels were measured alike: the one with more CPU features first\n"
              "1 not all of the workload's kernels were measured alike: the one with more CPU features first\n");
}

}  // namespace
}  // namespace kiln
