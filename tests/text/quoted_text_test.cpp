#include "text/quoted_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/test_seed.h"
#include "text/utf8.h"

namespace kiln {
namespace {

struct Case {
    std::string text, line, lines = {};  // `lines` is empty where it equals `line`
};

const Case cases[] = {
    {"", ""},
    {"plain, µs, 畳み込み, 🙂 and e\u0301", "plain, µs, 畳み込み, 🙂 and e\u0301"},
    {"a\\x1b is four characters", "a\\x1b is four characters"},
    {"two\nlines\tand\r\n", "two\\nlines\\tand\\r\\n", "two\nlines\tand\\r\n"},
    {"\x1b[31mred\x7f\b\a", "\\x1b[31mred\\x7f\\x08\\x07"},
    {"\x1b]0;title\x07\x1b]52;c;cm0=\x1b\\", "\\x1b]0;title\\x07\\x1b]52;c;cm0=\\x1b\\"},
    {std::string("a\0b", 3), "a\\x00b"},
    // C1, as characters and as bytes
    {"\u0085\u009b31m\u009d", "\\u0085\\u009b31m\\u009d"},
    {"\x9b"
     "31m",
     "\\x9b31m"},
    // directions, widths of zero, separators, fillers, tags
    {"a\u202egnp\u202c", "a\\u202egnp\\u202c"},
    {"\u2066\u2067\u2068\u2069\u200e\u200f\u061c", "\\u2066\\u2067\\u2068\\u2069\\u200e\\u200f\\u061c"},
    {"a\u200bb\u200c\u200d\u2060\ufeff\u00ad", "a\\u200bb\\u200c\\u200d\\u2060\\ufeff\\u00ad"},
    {"a\u2028b\u2029c", "a\\u2028b\\u2029c"},
    {"\u3164\uffa0\u115f", "\\u3164\\uffa0\\u115f"},
    {"\U000e0041\U000e0100\ufe0f", "\\U000e0041\\U000e0100\\ufe0f"},
    {"\ue000\U000f0000\U0010ffff\ufffe", "\\ue000\\U000f0000\\U0010ffff\\ufffe"},
    // no UTF-8: overlong ESC and newline, lone surrogates, cut off
    {"\xc0\x9b\xe0\x80\x8a", "\\xc0\\x9b\\xe0\\x80\\x8a"},
    {"\xed\xa0\x80\xed\xb0\x80", "\\xed\\xa0\\x80\\xed\\xb0\\x80"},
    {"\xff\xfe\xe7\x95", "\\xff\\xfe\\xe7\\x95"},
    {"\xe2\x80\x1b", "\\xe2\\x80\\x1b"},
};

TEST(QuotedText, NothingThatATerminalObeys) {
    for (const Case &c : cases) {
        EXPECT_EQ(quoted_line(c.text), c.line);
        EXPECT_EQ(quoted_lines(c.text), c.lines.empty() ? c.line : c.lines);
    }
}

TEST(QuotedText, QuotedTwiceIsQuotedOnce) {
    for (const Case &c : cases) {
        EXPECT_EQ(quoted_line(quoted_line(c.text)), c.line);
        EXPECT_EQ(quoted_lines(quoted_lines(c.text)), quoted_lines(c.text));
    }
}

// Every character of the answer is plain, whatever the bytes are.
TEST(QuotedText, RandomBytes) {
    std::mt19937_64 random(test_seed());
    // Bytes that are likely to be parts of something.
    const std::string bytes("\x1b[m\n\x80\x9b\xa0\xbf\xc0\xc2\xe2\x80\xae\xed\xef\xbb\xf0\x9f\xf3\xff\\a\0", 24);
    for (int i = 0; i < 5000; i++) {
        std::string text;
        for (size_t n = random() % 12; n > 0; n--) text += bytes[random() % bytes.size()];
        const std::string line = quoted_line(text);
        for (std::string_view rest = line; !rest.empty();) {
            const Utf8Character c = first_character(rest);
            ASSERT_TRUE(!c.broken && is_plain(c.code)) << testing::PrintToString(text);
            rest.remove_prefix(c.bytes.size());
        }
        ASSERT_EQ(quoted_line(line), line);
    }
}

TEST(QuotedText, JsonKeepsItsValue) {
    for (const Case &c : cases) {
        const nlohmann::json value = {{c.text, {c.text, 1}}};
        const auto replace = nlohmann::json::error_handler_t::replace;
        for (const int indent : {-1, 2}) {
            const std::string document = value.dump(indent, ' ', false, replace);
            const std::string quoted = quoted_json(document);
            EXPECT_EQ(nlohmann::json::parse(quoted), nlohmann::json::parse(document));
            EXPECT_EQ(quoted_lines(quoted), quoted) << "something is left that a terminal obeys";
        }
    }
    EXPECT_EQ(quoted_json("[\"é\u009b\U000e0041\x7f\",\n1]"), "[\"é\\u009b\\udb40\\udc41\\u007f\",\n1]");
}

TEST(QuotedText, Large) {
    std::string text(1 << 20, 'x');
    for (size_t i = 0; i < text.size(); i += 2) text[i] = '\x1b';
    EXPECT_EQ(quoted_line(text).size(), text.size() / 2 * 5);
}

}  // namespace
}  // namespace kiln
