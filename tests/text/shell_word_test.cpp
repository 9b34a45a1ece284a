#include "text/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

namespace kiln {
namespace {

TEST(ShellWord, IsPlainOrInQuotes) {
    const struct {
        std::string text, expected;
    } cases[] = {
        {"workloads/resnet50.json", "workloads/resnet50.json"},
        {"../a_b-1.2+c,d@e:f%", "../a_b-1.2+c,d@e:f%"},
        {"", "''"},
        {"my kernels.db", "'my kernels.db'"},
        {"a;rm -rf $HOME`x`", "'a;rm -rf $HOME`x`'"},
        {"it's", "'it'\\''s'"},
        {"~", "'~'"},
        {"*", "'*'"},
        {"a=1x2", "a=1x2"},
        {"größe.db", "'größe.db'"},
        {"a\\b", "'a\\b'"},
        {"a\nb", "$'a\\nb'"},
        {"it's\x1b[31m\\n", "$'it\\'s\\x1b[31m\\\\n'"},
        {"\xff", "$'\\xff'"},
    };
    for (const auto &c : cases) EXPECT_EQ(shell_word(c.text), c.expected);
}

// What a shell makes of the word.
std::string read_by_shell(const std::string &word) {
    const std::string script = "cat <<'KILN_END' | bash\nprintf %s " + word + "\nKILN_END\n";
    std::FILE *shell = popen(script.c_str(), "r");
    std::string text;
    std::array<char, 100> bytes;
    while (const size_t count = std::fread(bytes.data(), 1, bytes.size(), shell)) text.append(bytes.data(), count);
    pclose(shell);
    return text;
}

TEST(ShellWord, IsOneWordOfTheSameBytes) {
    for (const std::string text :
         {"a b", "it's", "$(id)", "a\nb\t'\\c'", "\x1b[31m\x07", "\xff\x80x", "!", "a#b", "\\"}) {
        EXPECT_EQ(read_by_shell(shell_word(text)), text);
    }
}

}  // namespace
}  // namespace kiln
