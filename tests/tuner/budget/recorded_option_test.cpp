#include "tuner/budget/recorded_option.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(RecordedOption, IsNamedByTheCodeThatLayersShare) {
    const struct {
        const char *conditions, *code;
        int64_t text, stack, workspace;
    } rows[] = {
        {R"({"text_bytes": 10, "rodata_bytes": 2, "stack_bytes": 3, "workspace_bytes": 4})", "", 12, 3, 4},
        {R"({"text_bytes": 10, "shared_code": "shared"})", "shared", 10, 0, 0},
        {R"({"shared_code": 7})", "", 0, 0, 0},
        {R"({"text_bytes": "many"})", "", 0, 0, 0},
        {R"([1])", "", 0, 0, 0},
        {"no JSON", "", 0, 0, 0},
    };
    for (const auto &row : rows) {
        Measurement measurement;
        measurement.median = 1000, measurement.conditions = row.conditions;
        const KernelOption option = recorded_option(measurement, 3);
        EXPECT_EQ(option.code, row.code) << row.conditions;
        EXPECT_EQ(option.cycles, 3000);
        EXPECT_EQ(option.text, row.text) << row.conditions;
        EXPECT_EQ(option.stack, row.stack) << row.conditions;
        EXPECT_EQ(option.workspace, row.workspace) << row.conditions;
    }
}

}  // namespace
}  // namespace kiln
