#include "cli/answers/answer.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/answers/formats.h"

namespace kiln {
namespace {

const Table example = {{"layer", "us", "note"},
                       {{std::string("a/conv1"), 12.5, std::string("x")},
                        {std::string("b"), int64_t(1000), Cell()},
                        {std::string("c"), Cell(), std::string("two\nlines")}}};

TEST(Formats, JsonIsAListOfObjects) {
    const auto json = nlohmann::json::parse(json_text(example));
    const auto expected = nlohmann::json::parse(R"([{"layer": "a/conv1", "us": 12.5, "note": "x"},
        {"layer": "b", "us": 1000, "note": null}, {"layer": "c", "us": null, "note": "two\nlines"}])");
    EXPECT_EQ(json, expected);
    EXPECT_EQ(nlohmann::json::parse(json_text({{"a"}, {}})), nlohmann::json::array());
}

TEST(Formats, JsonIsValidWhateverTheCells) {
    const Table odd = {{"a", "a", "b"},
                       {{std::string("\xff\"\\"), int64_t(2), std::numeric_limits<double>::infinity()}}};
    const auto json = nlohmann::json::parse(json_text(odd));
    ASSERT_EQ(json.size(), 1u);
    EXPECT_EQ(json[0]["a:2"], 2);
    EXPECT_TRUE(json[0]["b"].is_null());
}

TEST(Formats, CsvQuotesWhatNeedsIt) {
    const Table table = {{"a", "b,c"}, {{std::string("say \"hi\""), 0.1}, {std::string("two\nlines"), Cell()}}};
    EXPECT_EQ(csv_text(table), "a,\"b,c\"\n\"say \"\"hi\"\"\",0.1\n\"two\nlines\",\n");
}

TEST(Formats, CsvGuardsFormulasWhereAsked) {
    const struct {
        std::string text, guarded;
    } cases[] = {
        {"=1+1", "'=1+1"},
        {"+1", "'+1"},
        {"-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"},
        {"@SUM(A1)", "'@SUM(A1)"},
        {"\tx", "'\tx"},
        {"\r=1", "\"'\r=1\""},
        {"\n=1", "\"'\n=1\""},
        {"  =1", "'  =1"},
        {"\uff1d1", "'\uff1d1"},
        {"=HYPERLINK(\"x\",\"y\")", "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\""},
        {"conv1=x", "conv1=x"},
        {"", ""},
        {" ", " "},
        {"'x", "'x"},
    };
    for (const auto &c : cases) {
        const Table table = {{c.text, "n"}, {{c.text, int64_t(-1)}}};
        EXPECT_EQ(csv_text(table, Formulas::guarded), c.guarded + ",n\n" + c.guarded + ",-1\n");
        EXPECT_EQ(csv_text(table).find("'") == std::string::npos, c.text.find("'") == std::string::npos);
    }
}

std::string order_by(const std::string &sort) {
    Table table = {{"n", "v"},
                   {{std::string("null"), Cell()},
                    {std::string("2"), int64_t(2)},
                    {std::string("text"), std::string("1")},
                    {std::string("10"), 10.0},
                    {std::string("2 again"), 2.0}}};
    AnswerOptions options;
    options.sort = sort;
    sort_rows(&table, sort_order(options));
    std::string names;
    for (const auto &row : table.rows) names += std::get<std::string>(row[0]) + ";";
    return names;
}

TEST(Answer, SortsNumbersThenTextsThenNothing) {
    EXPECT_EQ(order_by(""), "null;2;text;10;2 again;");
    EXPECT_EQ(order_by("v"), "2;2 again;10;text;null;");
    EXPECT_EQ(order_by("-v"), "10;2;2 again;text;null;");
    EXPECT_EQ(order_by("-n"), "text;null;2 again;2;10;");
}

TEST(Answer, UnknownColumnsAreRefusedWithTheKnownOnes) {
    const std::vector<std::string> known = {"name", "median_us"};
    const struct {
        std::vector<std::string> columns;
        std::string sort, message;
    } cases[] = {{{"name", "median_us"}, "-median_us", ""},
                 {{}, "", ""},
                 {{"nam"}, "", "--columns: unknown column `nam`; there are name, median_us"},
                 {{""}, "", "--columns: unknown column ``; there are name, median_us"},
                 {{}, "-us", "--sort: unknown column `us`; there are name, median_us"},
                 {{}, "-", "--sort: unknown column ``; there are name, median_us"}};
    for (const auto &c : cases) {
        AnswerOptions options;
        options.columns = c.columns;
        options.sort = c.sort;
        const Status status = check_columns(options, known);
        EXPECT_EQ(status.ok() ? "" : status.error().message, c.message);
        EXPECT_TRUE(status.ok() || status.error().code == ErrorCode::usage);
    }
}

std::string printed(Table table, AnswerOptions options) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    print(std::move(table), {}, options);
    return testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
}

Table numbers(int64_t count) {
    Table table{.columns = {"n"}, .rows = {}};
    for (int64_t i = 1; i <= count; i++) table.rows.push_back({i});
    return table;
}

TEST(Answer, ALongTableIsCutAndSaysSo) {
    const std::string cut = printed(numbers(12345), {});
    EXPECT_EQ(std::count(cut.begin(), cut.end(), '\n'), 1 + most_rows_of_a_table + 1);
    EXPECT_NE(cut.find("the first 1,000 of 12,345 rows; --top N"), std::string::npos) << cut.substr(cut.size() - 200);
    AnswerOptions options;
    options.top = 2;
    options.sort = "-n";
    EXPECT_EQ(printed(numbers(12), options), " n\n12\n11\n");
    options.format = TableFormat::csv;
    EXPECT_EQ(printed(numbers(12), options), "n\n12\n11\n");
    options = {.format = TableFormat::csv, .columns = {}, .sort = {}};
    const std::string all = printed(numbers(2000), options);
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2001);
}

TEST(Answer, ColumnsThatWereAskedForInEveryFormat) {
    AnswerOptions options;
    options.columns = {"note", "layer"};
    EXPECT_EQ(printed(example, options), "note        layer\nx           a/conv1\n            b\ntwo\\nlines  c\n");
    options.format = TableFormat::csv;
    EXPECT_EQ(printed(example, options), "note,layer\nx,a/conv1\n,b\n\"two\nlines\",c\n");
    options.format = TableFormat::json;
    EXPECT_EQ(nlohmann::ordered_json::parse(printed(example, options))[0].dump(), R"({"note":"x","layer":"a/conv1"})");
}

TEST(Answer, WhatDoesNotFitIsNamed) {
    setenv("COLUMNS", "20", 1);
    const std::string text = printed({{"first_column", "second_column"}, {{std::string("a"), std::string("b")}}}, {});
    unsetenv("COLUMNS");
    EXPECT_EQ(text,
              "first_column\n"
              "a\n"
              "kiln: no room for the column second_column; --wide shows all, --columns chooses\n");
}

}  // namespace
}  // namespace kiln
