#include "records/race_conditions.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

using Trials = std::vector<std::string>;

TEST(RaceConditions, AreTextOfWhatThereIs) {
    const struct {
        RaceConditions conditions;
        std::string json;
        Trials qualified;
        std::string network = {};
    } table[] = {
        {{}, R"({"heats":[]})", {}},
        {{{"{}", R"({"cpu":1})"}, {}, {}}, R"({"heats":[{},{"cpu":1}]})", {}},
        {{{"{}"}, {{"ab", 645000}, {"cd", 1.5}}, {}},
         R"({"heats":[{}],"qualifying":[{"trial":"ab","ns":645000.0},{"trial":"cd","ns":1.5}]})",
         {"ab", "cd"}},
        {{{"{}"}, {}, {"a \"b\""}}, R"({"heats":[{}],"notes":["a \"b\""]})", {}},
        {{{"{}"}, {}, {}, "a \"b\""}, R"({"network":"a \"b\"","heats":[{}]})", {}, "a \"b\""},
    };
    for (const auto &row : table) {
        EXPECT_EQ(to_json(row.conditions), row.json);
        EXPECT_EQ(qualified_trials(row.json), row.qualified) << row.json;
        EXPECT_EQ(raced_network(row.json), row.network);
    }
}

TEST(RaceConditions, OfOthersTellOfNoTurns) {
    for (const char *text :
         {"", "null", "[]", "{", R"({"qualifying":3,"network":4})", R"({"qualifying":[1,{},{"trial":2}]})"}) {
        EXPECT_EQ(qualified_trials(text), Trials()) << text;
        EXPECT_EQ(raced_network(text), "") << text;
    }
}

}  // namespace
}  // namespace kiln
