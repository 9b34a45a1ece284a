#include "cli/bench/core_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

Timing counted(const std::string &candidate, double cycles, const std::string &conditions) {
    Timing timing{.candidate = candidate, .conditions = conditions};
    timing.add(cycles, cycles);
    return timing;
}

CoreReport sample_report() {
    CoreReport report{.target = {"riscv-32-noos", 1}, .core = "rv32im-test"};
    for (const char *name : {"tuned", "untuned"}) {
        NamedWorkload w;
        w.name = name, w.list = "l", w.count = 3;
        report.workloads.push_back(w);
    }
    Layer tuned{.algorithm = "a"};
    tuned.chosen = counted("a@1/k:1", 1000, R"({"instructions":800,"load_misses":5,"text_bytes":64,"stack_bytes":16})");
    tuned.standard = counted("a@1/k:2", 1500, "{}");
    Layer untuned{.algorithm = "b"};
    untuned.untuned = true;
    untuned.chosen = untuned.standard = counted("b@1", 400, "");
    report.layers = {tuned, untuned};
    return report;
}

TEST(CoreReport, HasARowForEachLayerAndOneForAllCalls) {
    const Table table = core_table(sample_report());
    const auto cell = [&](size_t row, const char *column) {
        const auto at = std::ranges::find(table.columns, column) - table.columns.begin();
        return table.rows.at(row).at(static_cast<size_t>(at));
    };
    ASSERT_EQ(table.rows.size(), 3u);
    for (const auto &row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
    EXPECT_EQ(cell(0, "name"), Cell("l/tuned"));
    EXPECT_EQ(cell(0, "cycles"), Cell(int64_t{1000}));
    EXPECT_EQ(cell(0, "speed_up"), Cell(1.5));
    EXPECT_EQ(cell(0, "instructions"), Cell(int64_t{800}));
    EXPECT_EQ(cell(0, "rodata_bytes"), Cell()) << "what was not counted";
    EXPECT_EQ(cell(0, "note"), Cell(""));
    EXPECT_EQ(cell(1, "note"), Cell("untuned"));
    EXPECT_EQ(cell(1, "instructions"), Cell());
    EXPECT_EQ(cell(2, "name"), Cell("total"));
    EXPECT_EQ(cell(2, "cycles"), Cell(int64_t{4200}));
    EXPECT_EQ(cell(2, "default_cycles"), Cell(int64_t{5700}));
    EXPECT_EQ(cell(2, "count"), Cell(int64_t{6}));
}

TEST(CoreReport, ALayerWithoutAKernelSaysWhyAndThereIsNoTotal) {
    CoreReport report = sample_report();
    report.layers[1] = Layer{.problem = "no algorithm applies"};
    const Table table = core_table(report);
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_EQ(table.rows[1].size(), table.columns.size());
    EXPECT_EQ(table.rows[1].back(), Cell("no algorithm applies"));
    const auto json = nlohmann::json::parse(json_text(report));
    EXPECT_EQ(json["layers"][1]["reason"], "no algorithm applies");
    EXPECT_TRUE(json["layers"][1]["cycles"].is_null());
}

TEST(CoreReport, JsonHasCountsInPlaceOfTimes) {
    const auto json = nlohmann::json::parse(json_text(sample_report()));
    EXPECT_EQ(json["format"], "bench/1");
    EXPECT_EQ(json["core"], "rv32im-test");
    const auto &tuned = json["layers"][0];
    EXPECT_EQ(tuned["cycles"], 1000);
    EXPECT_EQ(tuned["default_cycles"], 1500);
    EXPECT_EQ(tuned["instructions"], 800);
    EXPECT_EQ(tuned["stack_bytes"], 16);
    EXPECT_TRUE(tuned["workspace_bytes"].is_null());
    EXPECT_FALSE(tuned.contains("median_us"));
    EXPECT_TRUE(json["layers"][1]["untuned"]);
}

}  // namespace
}  // namespace kiln
