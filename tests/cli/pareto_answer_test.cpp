// Which choices a terminal shows.
#include "cli/pareto_answer.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kiln
