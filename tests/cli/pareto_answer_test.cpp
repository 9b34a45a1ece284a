// Which choices a terminal shows, and the picture of all.
#include "cli/pareto/pareto_answer.h"

#include <gtest/gtest.h>

#include <regex>

#include "cli/pareto/pareto_chart.h"

namespace kiln {
namespace {

std::vector<Cell> row(int64_t text, const std::string &machine, const std::string &toolchain) {
    return {text, int64_t(0), int64_t(0), int64_t(0), int64_t(1), std::string("rv32im"), machine, toolchain, ""};
}

TEST(ThinPareto, KeepsTheFirstAndTheLastOfEachCoreAndToolchain) {
    Table table{{}, {}};
    for (const char *toolchain : {"old", "new"}) {
        for (const int64_t text : {1000, 1001, 1019, 1020, 1030}) table.rows.push_back(row(text, "core", toolchain));
    }
    table.rows.push_back(row(10, "other", "new"));
    thin_pareto(&table);
    std::vector<int64_t> shown;
    for (const std::vector<Cell> &r : table.rows) shown.push_back(std::get<int64_t>(r[0]));
    EXPECT_EQ(shown, (std::vector<int64_t>{1000, 1020, 1030, 1000, 1020, 1030, 10}));
}

size_t count(const std::string &text, const std::string &what) {
    size_t n = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) n++;
    return n;
}

TEST(ParetoChart, HasAStairForEachCoreAndADotForWhatATerminalShows) {
    Table table{{}, {}};
    const auto add = [&](int64_t text, int64_t cycles, const char *machine) {
        table.rows.push_back(row(text, machine, "gcc"));
        table.rows.back()[1] = cycles;
    };
    for (const auto &[text, cycles] : {std::pair{1000, 9000}, {1001, 8000}, {1500, 7000}}) add(text, cycles, "<a>&");
    add(400, 100, "\x1b[31m");
    const std::string svg = pareto_chart(table);
    EXPECT_EQ(count(svg, "<path "), 2u);
    EXPECT_EQ(count(svg, "<circle "), 3u) << svg;
    for (const char *part : {"rv32im, &lt;a&gt;&amp;, gcc", "1500 bytes, 7000 cycles", "</svg>"}) {
        EXPECT_NE(svg.find(part), std::string::npos) << part << svg;
    }
    EXPECT_EQ(svg.find('\x1b'), std::string::npos);
    // Three choices are a start, two steps, and the way to the edge.
    EXPECT_TRUE(std::regex_search(svg, std::regex("d=\"M[0-9.,]+( H[0-9.]+ V[0-9.]+){2} H[0-9.]+\""))) << svg;
}

}  // namespace
}  // namespace kiln
