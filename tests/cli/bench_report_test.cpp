#include "cli/bench/bench_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/sample_bench_report.h"

namespace kiln {
namespace {

struct Printed {
    std::string answer, messages;
};

Printed printed_with_messages(const BenchReport &report, const AnswerOptions &options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    options.format == TableFormat::json ? print_json(report) : print_table(report, options);
    std::fflush(stdout);
    Printed printed;
    printed.messages = testing::internal::GetCapturedStderr();
    printed.answer = testing::internal::GetCapturedStdout();
    return printed;
}

std::string printed(const BenchReport &report, const AnswerOptions &options) {
    return printed_with_messages(report, options).answer;
}

TEST(BenchReportTest, NameTimeAndSpeedStandFirst) {
    setenv("COLUMNS", "120", 1);
    const std::string text = printed(sample_bench_report(), {});
    unsetenv("COLUMNS");
    EXPECT_TRUE(
        text.starts_with("target x86-64-linux\n"
                         "threads 1, peak 80.0 GFLOP/s (AVX2 FMA)\n"
                         "\n"
                         "layer     us  GFLOP/s  % peak  onednn / kiln      openvino / kiln  note"))
        << text;
    EXPECT_NE(text.find("net/a<b  2.0     50.0    62.5  1.25 (1.25..1.25)                   openvi"), std::string::npos)
        << text;
    EXPECT_NE(text.find("  onednn us  default us"), std::string::npos) << text;
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
    EXPECT_NE(text.find("layer     us  GFLOP/s  % peak  onednn / kiln"), std::string::npos) << text;
    EXPECT_NE(text.find("  % of  memory\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  50.0  L1\n"), std::string::npos) << text;
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

// Three peers take all the room that a table without a terminal has.
TEST(BenchReportTest, ReasonsOfMissingTimesAreToldWhereThereIsNoRoomForNotes) {
    BenchReport report = sample_bench_report();
    report.peers.push_back("onnxruntime");
    PeerTiming &added = report.layers[0].peers.emplace_back();
    added.name = "onnxruntime";
    added.problem = "not installed";
    report.workloads.push_back(report.workloads[0]);
    report.workloads.back().name = "again";
    report.layers.push_back(report.layers[0]);
    setenv("COLUMNS", "100", 1);
    const Printed narrow = printed_with_messages(report, {});
    const Printed wide = printed_with_messages(report, {.wide = true, .columns = {}, .sort = {}});
    unsetenv("COLUMNS");
    for (const char *title : {"onednn / kiln", "openvino / kiln", "onnxruntime / kiln"}) {
        EXPECT_NE(narrow.answer.find(title), std::string::npos) << narrow.answer;
    }
    EXPECT_EQ(narrow.answer.find("not installed"), std::string::npos) << narrow.answer;
    for (const char *line : {"net/a<b and 1 more: openvino: unsupported: <a> & \"b\"\n",
                             "net/a<b and 1 more: onnxruntime: not installed\n", "net/c&d: crash\\nsignal 11\n"}) {
        EXPECT_NE(narrow.messages.find(line), std::string::npos) << line << narrow.messages;
    }
    EXPECT_NE(wide.answer.find("onnxruntime: not installed"), std::string::npos) << wide.answer;
    EXPECT_EQ(wide.messages, "");
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
