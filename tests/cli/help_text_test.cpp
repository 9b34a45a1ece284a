#include "cli/answers/help_text.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

TEST(HelpText, DescriptionsGoOnInTheirColumn) {
    struct Row {
        const char *text;
        int width;
        const char *expected;
    };
    const Row rows[] = {
        {"", 60, ""},
        {"short\n", 60, "short\n"},
        {"no newline at the end", 60, "no newline at the end"},
        {"a sentence of many words\n\nand more\n", 10, "a sentence of many\nwords\n\nand more\n"},
        {"a sentence of many words that goes on\n", 25, "a sentence of many words\nthat goes on\n"},
        {"  --threads N                 Threads that a kernel may use, at most this machine's\n", 60,
         "  --threads N                 Threads that a kernel may use,\n"
         "                              at most this machine's\n"},
        {"  --batch N:INT in [1 - 65536]\n"
         "                              How many images the network takes at once\n",
         60,
         "  --batch N:INT in [1 - 65536]\n"
         "                              How many images the network\n"
         "                              takes at once\n"},
        {"  --threads N                 one two three four five\n", 10,
         "  --threads N                 one two three four\n"
         "                              five\n"},
        {"  --word W                    averyveryverylongwordwithoutend and more\n", 50,
         "  --word W                    averyveryverylongwordwithoutend\n"
         "                              and more\n"},
        {"  kiln build --workloads list a.json --db kiln.db -o dist\n", 40,
         "  kiln build --workloads list a.json --db kiln.db -o dist\n"},
        {"  indented for another reason, and long enough\n", 20, "  indented for another reason, and long enough\n"},
    };
    for (const Row &row : rows) EXPECT_EQ(wrapped_help(row.text, row.width), row.expected) << row.text;
}

}  // namespace
}  // namespace kiln
