// What `kiln targets` prints of a machine, without measuring one.
#include "cli/targets_report.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/answers/terminal_text.h"

namespace kiln {
namespace {

// A machine with AVX2 and nothing wider, on which all that it runs was measured.
MachineFacts sample_facts() {
    const Machine machine{.cpu_model = "AMD EPYC 7B13 64-Core Processor",
                          .cpu_id = "AuthenticAMD-25-1-1",
                          .cores = 2,
                          .l3_bytes = 32 << 20,
                          .halide_target = "x86-64-linux-avx-avx2-f16c-fma-sse41"};
    MachineFacts facts = *list_targets(machine, 2);
    for (TargetFacts &t : facts.targets) {
        if (!t.missing.empty()) continue;
        t.peak = FmaPeak{"AVX2 FMA", 12345.678, 3.4567, 32};
        t.int8_peak = FmaPeak{"AVX2 multiply pairs + add", 23456.789, 3.4567, 64};
    }
    facts.bandwidths = {{"L1", 16 << 10, 1234.56, 987.65}, {"DRAM", 256 << 20, 12.34, 9.87}};
    return facts;
}

std::string printed(const MachineFacts &facts, bool wide) {
    testing::internal::CaptureStdout();
    print_target_tables(facts, 2, wide);
    return testing::internal::GetCapturedStdout();
}

TEST(TargetsReport, FitsATerminal) {
    const MachineFacts facts = sample_facts();
    const std::string text = printed(facts, false);
    for (const char *word : {"AMD EPYC 7B13", "2 cores", "L3 32 MiB", "host", "rv32im", "simulated", "no: lacks ",
                             "flop/cycle/core", "12345.7", "64.0", "L1", "DRAM", "16 KiB", "1234.6"}) {
        EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
    EXPECT_EQ(text.find("…"), std::string::npos) << text;
    for (const TargetFacts &t : facts.targets) EXPECT_EQ(text.find(t.target.halide), std::string::npos) << text;
}

TEST(TargetsReport, HasWholeTextsWhereItMayBeWide) {
    const MachineFacts facts = sample_facts();
    const std::string text = printed(facts, true);
    for (const TargetFacts &t : facts.targets) {
        EXPECT_NE(text.find(t.target.halide), std::string::npos) << t.name << "\n" << text;
        if (is_soft_core(t.target)) continue;
        EXPECT_NE(text.find(fmt::format("{}", fmt::join(t.missing, ", "))), std::string::npos) << t.name << "\n"
                                                                                               << text;
    }
}

TEST(TargetsReport, JsonHasWhatWasMeasured) {
    const MachineFacts facts = sample_facts();
    testing::internal::CaptureStdout();
    print_targets_json(facts, 2);
    const auto report = nlohmann::json::parse(testing::internal::GetCapturedStdout());
    EXPECT_EQ(report["format"], "targets/1");
    EXPECT_EQ(report["machine"]["key"], key(facts.machine));
    EXPECT_EQ(report["bandwidths"].size(), 2u);
    ASSERT_EQ(report["targets"].size(), facts.targets.size());
    for (size_t i = 0; i < facts.targets.size(); i++) {
        const auto &row = report["targets"][i];
        EXPECT_EQ(row["name"], facts.targets[i].name);
        EXPECT_EQ(row["runs"], facts.targets[i].missing.empty());
        EXPECT_EQ(row["peak"].is_null(), !facts.targets[i].missing.empty());
    }
    EXPECT_EQ(report["targets"][0]["int8_peak"]["op_per_cycle"], 64);
}

}  // namespace
}  // namespace kiln
