#include "cli/answers/terminal_text.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace kiln {
namespace {

TEST(TerminalText, Width) {
    const struct {
        std::string text;
        int width;
    } cases[] = {{"", 0},         {"abc", 3},        {"µs", 2},
                 {"畳", 2},       {"e\u0301", 1},    {"\xff", 1},
                 {"\xe7\x95", 2}, {"a\xe7\x95z", 4}, {std::string("\0a", 2), 2},
                 {"🙂", 2}};
    for (const auto &c : cases) EXPECT_EQ(display_width(c.text), c.width) << c.text;
}

TEST(TerminalText, ShortenedInTheMiddle) {
    const struct {
        std::string text;
        int width;
        std::string expected;
    } cases[] = {
        {"conv2d/input:1x56x56x64/padding:1,1x1,1", 25, "conv2d/input…ding:1,1x1,1"},
        {"abcdef", 6, "abcdef"},
        {"abcdef", 5, "ab…ef"},
        {"abcdef", 4, "ab…f"},
        {"abcdef", 2, "a…"},
        {"abcdef", 1, "…"},
        {"abcdef", 0, ""},
        {"畳み込み", 6, "畳…み"},
        {"畳み込み", 8, "畳み込み"},
        {"ae\u0301iou", 5, "ae\u0301iou"},
        {"ae\u0301iou", 4, "ae\u0301…u"},
        {"a畳z", 3, "a…z"},
        {"🙂🙂🙂", 5, "🙂…🙂"},
    };
    for (const auto &c : cases) {
        const std::string result = shortened(c.text, c.width);
        EXPECT_EQ(result, c.expected) << c.text << " in " << c.width;
        EXPECT_LE(display_width(result), c.width);
    }
}

// However many characters that take no column stand at one place.
TEST(TerminalText, BytesAreLimitedToo) {
    std::string text = "a";
    for (int i = 0; i < 100000; i++) text += "\u0301";
    EXPECT_LT(shortened(text, 10).size(), 400U);
    EXPECT_LT(shortened(text + "abcdefghijk", 10).size(), 400U);
}

class AnswerWidth : public testing::Test {
protected:
    void SetUp() override {
        if (const char *columns = std::getenv("COLUMNS")) before_ = columns;
    }
    void TearDown() override { before_ ? setenv("COLUMNS", before_->c_str(), 1) : unsetenv("COLUMNS"); }
    std::optional<std::string> before_;
};

TEST_F(AnswerWidth, TheEnvironmentThenTheTerminalThenAHundred) {
    std::FILE *file = std::tmpfile();
    const struct {
        const char *columns;
        int width;
    } cases[] = {{"80", 80}, {"120", 120}, {"3", 20}, {"0", 100}, {"-80", 100}, {"wide", 100}, {"80x", 100}, {"", 100}};
    for (const auto &c : cases) {
        setenv("COLUMNS", c.columns, 1);
        EXPECT_EQ(answer_width(fileno(file)), c.width) << c.columns;
    }
    unsetenv("COLUMNS");
    EXPECT_EQ(answer_width(fileno(file)), 100);
    std::fclose(file);
}

}  // namespace
}  // namespace kiln
