#include "cli/tune/tune_results.h"

#include <gtest/gtest.h>

#include "catalog/catalog.h"

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

// A layer without a result has no time, and takes none.
TEST(TuneResults, AnEmptyLayerNeedsNoKernel) {
    TuneReport report{.workloads = {tuned("conv1", 1, 1e6), tuned("empty", 1, {}), tuned("conv2", 1, {})}};
    report.workloads[1].is_empty = true;
    const LayersWithoutKernel without = layers_without_kernel(report);
    EXPECT_EQ(without.lines, (std::vector<std::string>{"net/conv2: no time for a trial"}));
    EXPECT_EQ(without.empty, 1u);
    EXPECT_EQ(without.unused, 0u);
}

TEST(TuneResults, ANetworkSpendsNothingInLayoutsThatItDoesNotUse) {
    const TuneReport report{
        .workloads = {tuned("conv1", 1, 1e6), tuned("conv1 NCHW", 0, {}), tuned("conv3 NCHW", 0, 1e6)}};
    EXPECT_EQ(layers_without_kernel(report).lines, std::vector<std::string>());
    EXPECT_EQ(network_summary(report),
              "net: 2.000 ms in its layers, 2.000 ms with default kernels (1.00 times as long)");
}

struct ResultOutput {
    std::string table, messages;
};

const Machine some_cpu = {.cpu_model = "Some CPU", .cores = 2, .l3_bytes = 32 << 20};

ResultOutput results_in(const char *terminal_columns, const TuneReport &report, const AnswerOptions &options) {
    const Target avx2 = *parse_target("avx2", 1, "x86-64-linux");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    setenv("COLUMNS", terminal_columns, 1);
    print_results(report, {.f32 = FmaPeak{"AVX2 FMA", 80, 2.5, 32}, .int8 = {}}, {.target = avx2, .machine = some_cpu},
                  options);
    std::fflush(stdout);
    unsetenv("COLUMNS");
    ResultOutput output;
    output.messages = testing::internal::GetCapturedStderr();
    output.table = testing::internal::GetCapturedStdout();
    return output;
}

// A network's report, with a candidate that a table shortens.
TuneReport report_with_candidates() {
    TuneReport report{.workloads = {tuned("conv1", 1, 1e6), tuned("conv1 NCHW", 0, 1e6), tuned("conv2", 1, 1e6)}};
    const Target avx2 = *parse_target("avx2", 1, "x86-64-linux");
    for (TunedWorkload &layer : report.workloads) {
        Workload &w = layer.workload.workload = convolution({1, 28, 28, 64}, {3, 3, 64, 64});
        w.padding = {{1, 1}, {1, 1}};
        layer.best_candidate = to_text(*default_candidate(w, avx2, core_of(some_cpu, avx2), default_error_budget));
    }
    return report;
}

// Which rows have no part in the sums, one sees in the narrowest table that there usually is.
TEST(TuneResults, TheTableSaysWhichLayoutsAreNotUsed) {
    const ResultOutput output = results_in("100", report_with_candidates(), {});
    EXPECT_NE(output.table.find("speed-up  count  trials"), std::string::npos) << output.table;
    EXPECT_NE(output.messages.find("count 0: 1 of the kernels are in layouts that the network does not use"),
              std::string::npos)
        << output.messages;
    TuneReport used = report_with_candidates();
    for (TunedWorkload &layer : used.workloads) layer.workload.odds = 1;
    EXPECT_EQ(results_in("100", used, {}).messages.find("count 0"), std::string::npos);
    const AnswerOptions json{.format = TableFormat::json, .columns = {}, .sort = {}};
    EXPECT_EQ(results_in("100", report_with_candidates(), json).messages, "");
}

TEST(TuneResults, ATotalCountsWhatIsEmptyAsNothing) {
    TuneReport report = report_with_candidates();
    EXPECT_NE(results_in("120", report, {}).table.find("total"), std::string::npos);
    report.workloads[2].best_ns = report.workloads[2].default_ns = {};
    report.workloads[2].best_candidate = "";
    EXPECT_EQ(results_in("120", report, {}).table.find("total"), std::string::npos);
    report.workloads[2].is_empty = true;
    EXPECT_NE(results_in("120", report, {}).table.find("total"), std::string::npos);
}

TEST(TuneResults, ShortCandidatesAreExplainedWhereTheyAreShown) {
    struct Row {
        const char *terminal_columns;
        std::vector<std::string> columns;
        bool explains;
    };
    const Row rows[] = {
        {"120", {}, true}, {"60", {}, false}, {"120", {"name", "trials"}, false}, {"60", {"name", "candidate"}, true}};
    for (const Row &row : rows) {
        const ResultOutput output =
            results_in(row.terminal_columns, report_with_candidates(), {.columns = row.columns, .sort = {}});
        EXPECT_EQ(output.messages.find("stands for knobs") != std::string::npos, row.explains)
            << row.terminal_columns << " " << row.columns.size() << output.messages << output.table;
    }
}

}  // namespace
}  // namespace kiln
