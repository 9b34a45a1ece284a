#include "cli/bench/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/sample_bench_report.h"

namespace kiln {
namespace {

std::string printed(const BenchReport &report, const AnswerOptions &options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    options.format == TableFormat::json ? print_json(report) : print_table(report, options);
    std::fflush(stdout);
    testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
}

TEST(BenchReportTest, NameTimeAndSpeedStandFirst) {
    setenv("COLUMNS", "120", 1);
    const std::string text = printed(sample_bench_report(), {});
    unsetenv("COLUMNS");
    EXPECT_TRUE(text.starts_with(
        "target x86-64-linux\n"
        "threads 1, peak 80.0 GFLOP/s (AVX2 FMA)\n"
        "\n"
        "layer     us  GFLOP/s  % peak  onednn us  onednn / kiln      openvino / kiln  default us  note"))
        << text;
    EXPECT_NE(
        text.find("net/a<b  2.0     50.0    62.5        2.5  1.25 (1.25..1.25)                          2.5  openvi"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("crash\\n"), std::string::npos) << text;
    EXPECT_NE(text.find("median over rounds of peer's time / kiln's"), std::string::npos) << text;
}

// Which of both a layer is limited by, one can read where the memory that holds it is known.
TEST(BenchReportTest, SharesOfPeakAndOfTheMemoryThatHoldsTheLayer) {
    BenchReport report = sample_bench_report();
    report.bandwidths = {{"L1", 16384, 40, 26}, {"L2", 1 << 18, 20, 10}};
    setenv("COLUMNS", "100", 1);
    const std::string text = printed(report, {});
    unsetenv("COLUMNS");
    EXPECT_NE(text.find("layer     us  GFLOP/s  % peak  % of  memory  onednn us"), std::string::npos) << text;
    EXPECT_NE(text.find("net/a<b  2.0     50.0    62.5  50.0  L1"), std::string::npos) << text;
    for (size_t from = 0, to = 0; (to = text.find('\n', from)) != std::string::npos; from = to + 1) {
        EXPECT_LE(to - from, 100u) << text.substr(from, to - from);
    }
    const auto json = nlohmann::json::parse(printed(report, {.format = TableFormat::json}));
    const auto &good = json["layers"][0], &bad = json["layers"][1];
    EXPECT_DOUBLE_EQ(good["share_of_peak"], 0.625);
    EXPECT_DOUBLE_EQ(good["share_of_bandwidth"], 0.5);
    EXPECT_EQ(good["level"], "L1");
    EXPECT_EQ(good["bytes"], 26000);
    EXPECT_TRUE(bad["share_of_bandwidth"].is_null());
    EXPECT_EQ(bad["level"], "L1");
}

TEST(BenchReportTest, EveryColumnCanBeChosenAndSorted) {
    const BenchReport report = sample_bench_report();
    EXPECT_EQ(bench_table(report).columns, bench_columns(report.peers));
    for (const std::string &column : bench_columns(report.peers)) {
        AnswerOptions options;
        options.columns = {column};
        options.sort = "-" + column;
        EXPECT_FALSE(printed(report, options).empty()) << column;
    }
}

TEST(BenchReportTest, JsonHasTheFieldsOfItsFormat) {
    AnswerOptions options;
    options.format = TableFormat::json;
    const auto json = nlohmann::json::parse(printed(sample_bench_report(), options));
    EXPECT_EQ(json["format"], "bench/1");
    EXPECT_EQ(json["peak_gflops"], 80);
    const auto &good = json["layers"][0], &bad = json["layers"][1];
    for (const char *field :
         {"name", "key", "algorithm", "median_us", "min_us", "gflops", "default_us", "candidate", "default_candidate",
          "round_medians_us", "default_round_medians_us", "roofline_gflops", "untuned", "reason", "peers"}) {
        EXPECT_TRUE(good.contains(field)) << field;
    }
    EXPECT_EQ(good["peers"]["onednn"]["ratio"], 1.25);
    EXPECT_EQ(good["peers"]["onednn"]["call_overhead_us"], 0.01);
    EXPECT_TRUE(good["peers"]["openvino"]["median_us"].is_null());
    EXPECT_TRUE(bad["median_us"].is_null());
    EXPECT_EQ(bad["reason"], "crash\nsignal 11");
}

}  // namespace
}  // namespace kiln
