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
    } table[] = {
        {{}, R"({"heats":[]})", {}},
        {{{"{}", R"({"cpu":1})"}, {}, {}}, R"({"heats":[{},{"cpu":1}]})", {}},
        {{{"{}"}, {{"ab", 645000}, {"cd", 1.5}}, {}},
         R"({"heats":[{}],"qualifying":[{"trial":"ab","ns":645000.0},{"trial":"cd","ns":1.5}]})",
         {"ab", "cd"}},
        {{{"{}"}, {}, {"a \"b\""}}, R"({"heats":[{}],"notes":["a \"b\""]})", {}},
    };
    for (const auto &row : table) {
        EXPECT_EQ(to_json(row.conditions), row.json);
        EXPECT_EQ(qualified_trials(row.json), row.qualified) << row.json;
    }
}

TEST(RaceConditions, OfOthersTellOfNoTurns) {
    for (const char *text : {"", "null", "[]", "{", R"({"qualifying":3})", R"({"qualifying":[1,{},{"trial":2}]})"}) {
        EXPECT_EQ(qualified_trials(text), Trials()) << text;
    }
}

}  // namespace
}  // namespace kiln
