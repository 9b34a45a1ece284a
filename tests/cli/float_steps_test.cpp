// What is said of steps that compute with floats.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/network/network_program.h"

namespace kiln {
namespace {

TEST(ExplainFloats, TheLastNoteOfANodeOfTheStep) {
    const std::vector<graph::FloatNote> notes{{{"a", "b"}, "first"}, {{"c"}, "second"}, {{"b"}, "third"}};
    const struct {
        std::vector<std::string> origins;
        std::string why;
    } rows[] = {
        {{"a"}, "floats: first"},
        {{"b"}, "floats: third"},
        {{"a", "c"}, "floats: second"},
        {{"c", "a"}, "floats: second"},
        {{"x"}, ""},
        {{"x", "b", "c"}, "floats: third"},
        {{}, ""},
    };
    for (const auto &row : rows) {
        network::Program program{.steps = {{.name = "step", .origins = row.origins, .work = network::Copy{}}}};
        explain_floats(notes, &program);
        EXPECT_EQ(program.steps[0].why, row.why);
    }
}

// Each step with each note is minutes.
TEST(ExplainFloats, StepsAndNotesByTheHundredThousand) {
    std::vector<graph::FloatNote> notes;
    network::Program program;
    for (int i = 0; i < 100'000; i++) {
        const std::string name = "a/long/name/of/a/layer/" + std::to_string(i);
        notes.push_back({{name}, "kiln computes it with floats only"});
        program.steps.push_back({.name = name, .origins = {name}, .work = network::Copy{}});
    }
    explain_floats(notes, &program);
    EXPECT_EQ(program.steps.front().why, "floats: kiln computes it with floats only");
    EXPECT_EQ(program.steps.back().why, program.steps.front().why);
}

}  // namespace
}  // namespace kiln
