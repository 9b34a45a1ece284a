#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

constexpr char32_t broken = 0xFFFFFFFF;

TEST(Utf8, TheFirstCharacter) {
    const struct {
        std::string text;
        char32_t code;
        size_t bytes = 1;
    } cases[] = {
        {"a", 'a'},
        {std::string("\0a", 2), 0},
        {"\x7f", 0x7F},
        {"\xc2\x80", 0x80, 2},
        {"\xdf\xbf", 0x7FF, 2},
        {"\xe0\xa0\x80", 0x800, 3},
        {"\xed\x9f\xbf", 0xD7FF, 3},
        {"\xee\x80\x80", 0xE000, 3},
        {"\xef\xbf\xbfz", 0xFFFF, 3},
        {"\xf0\x90\x80\x80", 0x10000, 4},
        {"\xf4\x8f\xbf\xbf", 0x10FFFF, 4},
        // bytes that begin nothing
        {"\x80", broken},
        {"\xbf", broken},
        {"\xfe", broken},
        {"\xff", broken},
        // overlong
        {"\xc0\x80", broken},
        {"\xc1\xbf", broken},
        {"\xc0\x8a", broken},
        {"\xe0\x80\x9b", broken},
        {"\xe0\x9f\xbf", broken},
        {"\xf0\x80\x80\x9b", broken},
        {"\xf0\x8f\xbf\xbf", broken},
        // surrogates, and codes that do not exist
        {"\xed\xa0\x80", broken},
        {"\xed\xbf\xbf", broken},
        {"\xf4\x90\x80\x80", broken},
        {"\xf5\x80\x80\x80", broken},
        {"\xf8\x88\x80\x80\x80", broken},
        // cut off, by the end or by another character
        {"\xc3", broken},
        {"\xe7\x95", broken},
        {"\xf0\x9f\x99", broken},
        {"\xc3z", broken},
        {"\xe7\x95z", broken},
        {"\xf0\x9f\x99z", broken},
        {"\xc3\xc3", broken},
    };
    for (const auto &c : cases) {
        const Utf8Character first = first_character(c.text);
        EXPECT_EQ(uint32_t(first.broken ? broken : first.code), uint32_t(c.code)) << testing::PrintToString(c.text);
        EXPECT_EQ(first.bytes, c.text.substr(0, c.bytes));
    }
}

}  // namespace
}  // namespace kiln
