#include "cli/answers/table.h"

#include <gtest/gtest.h>

#include "cli/answers/terminal_text.h"

namespace kiln {
namespace {

using Row = std::vector<Cell>;

std::string text(const char *value) { return value; }

const Table times = {{"name", "median_us", "gflops", "candidate", "target", "trial"},
                     {{text("net/conv1"), 1234.56, 98.7654, text("direct@1/cpu_tile@2/pixels:14/rows:1/unroll:8"),
                       text("x86-64-linux-avx2"), text("0123456789abcdef")},
                      {text("net/c2"), 7.0, Cell(), text("winograd_4@1/winograd@1/…"), text("x86-64-linux-avx2"),
                       text("fedcba9876543210")}}};
const TableForm times_form = {{.name = "name"},
                              {.name = "median_us", .title = "us", .digits = 1},
                              {.name = "gflops", .title = "GFLOP/s", .digits = 1},
                              {.name = "candidate"},
                              {.name = "trial", .prefix = 7},
                              {.name = "target", .context = true}};

struct Case {
    const char *what;
    Table table;
    TableForm form;
    TableView view;
    std::string expected;
    std::vector<std::string> hidden = {};
};

const Case cases[] = {
    {"numbers to the right, texts to the left, no form: all columns",
     {{"layer", "us", "note"}, {{text("a/conv1"), 12.5, text("x")}, {text("b"), int64_t(1000), Cell()}}},
     {},
     {},
     "layer      us  note\n"
     "a/conv1  12.5  x\n"
     "b        1000\n"},
    {"no rows", {{"a", "b"}, {}}, {}, {}, "a  b\n"},
    {"no rows, with context", {times.columns, {}}, times_form, {}, "name  us  GFLOP/s  candidate  trial\n"},
    {"what is equal in all rows is said once; 100 columns hold the rest",
     times,
     times_form,
     {.width = 100, .columns = {}},
     "target x86-64-linux-avx2\n"
     "\n"
     "name           us  GFLOP/s  candidate                                      trial\n"
     "net/conv1  1234.6     98.8  direct@1/cpu_tile@2/pixels:14/rows:1/unroll:8  0123456\n"
     "net/c2        7.0           winograd_4@1/winograd@1/…                      fedcba9\n"},
    {"the longest text gives way first",
     times,
     times_form,
     {.width = 60, .columns = {}},
     "target x86-64-linux-avx2\n"
     "\n"
     "name           us  GFLOP/s  candidate                trial\n"
     "net/conv1  1234.6     98.8  direct@1/cp…:1/unroll:8  0123456\n"
     "net/c2        7.0           winograd_4@…inograd@1/…  fedcba9\n"},
    {"columns go from the right where nothing can be shortened any more",
     times,
     times_form,
     {.width = 30, .columns = {}},
     "target x86-64-linux-avx2\n"
     "\n"
     "name           us  GFLOP/s\n"
     "net/conv1  1234.6     98.8\n"
     "net/c2        7.0\n",
     {"candidate", "trial"}},
    {"wide: every column and whole texts",
     {{"name", "target"}, {{text("a"), text("a long target")}, {text("b"), text("a long target")}}},
     {{.name = "name"}, {.name = "target", .context = true}},
     {.width = 20, .wide = true, .columns = {}},
     "name  target\n"
     "a     a long target\n"
     "b     a long target\n"},
    {"columns that were asked for, in that order, none left out",
     times,
     times_form,
     {.width = 20, .columns = {"target", "median_us"}},
     "target            us\n"
     "x86-64…-avx2  1234.6\n"
     "x86-64…-avx2     7.0\n"},
    {"context that differs is a column",
     {{"name", "cache"}, {{text("a"), text("warm")}, {text("a"), text("cold")}}},
     {{.name = "name"}, {.name = "cache", .context = true}},
     {},
     "name  cache\n"
     "a     warm\n"
     "a     cold\n"},
    {"rows without a value do not make context differ",
     {{"name", "metric"}, {{text("a"), text("ns")}, {text("b"), Cell()}}},
     {{.name = "name"}, {.name = "metric", .context = true}},
     {},
     "metric ns\n"
     "\n"
     "name\n"
     "a\n"
     "b\n"},
    {"long context is shortened, several share a line where they fit",
     {{"a", "b", "c", "n"}, {{text("1"), text("2"), text("123456789012345678901234567890"), text("x")}}},
     {{.name = "n"}, {.name = "a", .context = true}, {.name = "b", .context = true}, {.name = "c", .context = true}},
     {.width = 20, .columns = {}},
     "a 1, b 2\n"
     "c 12345678…234567890\n"
     "\n"
     "n\n"
     "x\n"},
    {"a share in percent",
     {{"spread"}, {{0.0251}, {1.0}}},
     {{.name = "spread", .title = "spread %", .digits = 1, .scale = 100}},
     {},
     "spread %\n"
     "     2.5\n"
     "   100.0\n"},
    {"characters of two columns, of none, and control characters",
     {{"layer", "n"},
      {{text("畳み込み"), int64_t(1)}, {text("e\u0301"), int64_t(2)}, {text("\x1b[2Jx\n"), int64_t(3)}}},
     {},
     {},
     "layer       n\n"
     "畳み込み    1\n"
     "e\u0301           2\n"
     "\\x1b[2Jx\\n  3\n"},
    {"texts that no row has are not shown",
     {{"name", "message", "n"}, {{text("a"), text(""), Cell()}, {text("b"), text(""), Cell()}}},
     {{.name = "name"}, {.name = "message"}, {.name = "n"}},
     {},
     "name  n\n"
     "a\n"
     "b\n"},
    {"two columns of a query that are called alike",
     {{"a", "a"}, {{int64_t(1), int64_t(2)}}},
     {},
     {},
     "a  a\n"
     "1  2\n"},
};

TEST(Table, Layouts) {
    for (const Case &c : cases) {
        const RenderedTable rendered = render(c.table, c.form, c.view);
        EXPECT_EQ(rendered.text, c.expected) << c.what;
        EXPECT_EQ(rendered.hidden, c.hidden) << c.what;
    }
}

TEST(Table, NoLineIsWiderThanTheTerminal) {
    for (int width = 26; width < 160; width++) {
        const std::string all = render(times, times_form, {.width = width, .columns = {}}).text;
        for (size_t begin = 0; begin < all.size();) {
            const size_t end = all.find('\n', begin);
            EXPECT_LE(display_width(all.substr(begin, end - begin)), width) << all;
            begin = end + 1;
        }
    }
}

TEST(Table, TextsOfAnyLengthAreCutBeforeAnythingElse) {
    const std::string letters(50 << 20, 'x');
    std::string marks = "a";
    for (int i = 0; i < 100000; i++) marks += "\u0301";
    const Table table = {{"long", "marks"}, {{letters, marks}, {"b" + letters, marks}}};
    const RenderedTable narrow = render(table, {{.name = "long"}, {.name = "marks", .context = true}}, {.width = 80});
    EXPECT_LT(narrow.text.size(), 4000U);
    EXPECT_NE(narrow.text.find("xxx…xxx"), std::string::npos);
}

TEST(Table, ControlsAndWidthsAreThoseOfThePrintedText) {
    const Table table = {{"a\x1b", "b"}, {{text("畳\n\u202e"), text("e\u0301")}, {text("\xff"), text("x")}}};
    EXPECT_EQ(render(table, {}, {}).text,
              "a\\x1b       b\n"
              "畳\\n\\u202e  e\u0301\n"
              "\\xff        x\n");
    // An id is cut within a character.
    const Table ids = {{"id"}, {{text("12畳畳")}, {text("34畳畳")}}};
    EXPECT_EQ(render(ids, {{.name = "id", .prefix = 4}}, {}).text, "id\n12\\xe7\\x95\n34\\xe7\\x95\n");
}

}  // namespace
}  // namespace kiln
