#include "cli/build/build_report.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

KernelReport report_of(KernelSource source) {
    KernelReport report;
    report.workload.list = report.workload.name = "layer";
    report.source = source;
    return report;
}

// What is told of four kernels, each of which took so many seconds.
std::string told_of_four(double seconds, KernelSource source) {
    int64_t now_ns = 5;
    testing::internal::CaptureStderr();
    NetworkReports reports(1, 4, [&] { return now_ns; });
    for (int i = 0; i < 4; i++) {
        now_ns += static_cast<int64_t>(seconds * 1e9);
        reports.show(report_of(source));
    }
    return testing::internal::GetCapturedStderr();
}

TEST(NetworkReportsTest, ALineEveryTenSecondsSaysHowManyKernelsThereAre) {
    struct Row {
        double seconds;  // of each kernel
        KernelSource source;
        const char *told;
    };
    const Row rows[] = {
        {1, KernelSource::tuned, ""},
        {3, KernelSource::tuned, ""},
        {4, KernelSource::tuned, "3 of 4 kernels are built and checked\n"},
        {6, KernelSource::untuned, "2 of 4 kernels are built and checked\n"},
        {11, KernelSource::tuned,
         "1 of 4 kernels are built and checked\n"
         "2 of 4 kernels are built and checked\n"
         "3 of 4 kernels are built and checked\n"},
    };
    for (const Row &row : rows) EXPECT_EQ(told_of_four(row.seconds, row.source), row.told) << row.seconds;
    EXPECT_NE(told_of_four(1, KernelSource::empty).find("layer: left out: "), std::string::npos);
    EXPECT_NE(told_of_four(1, KernelSource::missing).find("layer: no kernel"), std::string::npos);
}

}  // namespace
}  // namespace kiln
