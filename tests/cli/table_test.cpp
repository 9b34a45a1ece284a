#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/command.h"

namespace kiln {
namespace {

std::string printed(const Table &table, TableFormat format) {
    testing::internal::CaptureStdout();
    print(table, format);
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
}

const Table example = {{"layer", "us", "note"},
                       {{std::string("a/conv1"), 12.5, std::string("x")},
                        {std::string("b"), int64_t(1000), Cell()},
                        {std::string("c"), Cell(), std::string("two\nlines")}}};

TEST(Table, ForPeople) {
    EXPECT_EQ(printed(example, TableFormat::table),
              "layer      us  note\n"
              "a/conv1  12.5  x\n"
              "b        1000\n"
              "c              two...\n");
    EXPECT_EQ(printed({{"a", "b"}, {}}, TableFormat::table), "a  b\n");
}

TEST(Table, ControlCharactersDoNotReachTheTerminal) {
    const std::string text = printed({{"a"}, {{std::string("\x1b[31mred\t\x7f")}}}, TableFormat::table);
    EXPECT_EQ(text, "a\n [31mred\n");
}

TEST(Table, JsonIsAListOfObjects) {
    const auto json = nlohmann::json::parse(printed(example, TableFormat::json));
    const auto expected = nlohmann::json::parse(R"([{"layer": "a/conv1", "us": 12.5, "note": "x"},
        {"layer": "b", "us": 1000, "note": null}, {"layer": "c", "us": null, "note": "two\nlines"}])");
    EXPECT_EQ(json, expected);
    EXPECT_EQ(nlohmann::json::parse(printed({{"a"}, {}}, TableFormat::json)), nlohmann::json::array());
}

TEST(Table, JsonIsValidWhateverTheCells) {
    const Table odd = {{"a", "a", "b"},
                       {{std::string("\xff\"\\"), int64_t(2), std::numeric_limits<double>::infinity()}}};
    const auto json = nlohmann::json::parse(printed(odd, TableFormat::json));
    ASSERT_EQ(json.size(), 1u);
    EXPECT_EQ(json[0]["a:2"], 2);
    EXPECT_TRUE(json[0]["b"].is_null());
}

TEST(Table, CsvQuotesWhatNeedsIt) {
    const Table table = {{"a", "b,c"}, {{std::string("say \"hi\""), 0.1}, {std::string("two\nlines"), Cell()}}};
    EXPECT_EQ(printed(table, TableFormat::csv), "a,\"b,c\"\n\"say \"\"hi\"\"\",0.1\n\"two\nlines\",\n");
}

}  // namespace
}  // namespace kiln
