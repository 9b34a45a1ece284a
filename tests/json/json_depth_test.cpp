#include "json/json_depth.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

TEST(JsonDepth, CountsWhatIsOpenAtOnce) {
    const struct {
        std::string text;
        int depth;
    } rows[] = {
        {"", 0},
        {"1", 0},
        {"[]", 1},
        {R"({"a": [1, {"b": []}], "c": [[]]})", 4},
        {R"({"a": "[[[[", "b": "\"[[", "c": "\\"})", 1},
        {R"(["\\", []])", 2},
        {"[[[", 3},
        {"]]]]", 0},
        {"\"[[", 0},
        {"\"\\", 0},
        {std::string(1'000'000, '['), 1'000'000},
    };
    for (const auto &row : rows) EXPECT_EQ(json_depth(row.text), row.depth) << row.text.substr(0, 40);
}

}  // namespace
}  // namespace kiln
