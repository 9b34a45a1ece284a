#include "text/quoted_text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/utf8.h"

namespace kiln {
namespace {

struct Range {
    char32_t first, last;
};

// In order. Unicode 15's categories Cc, Cf, Zl, Zp and Co, and the property Default_Ignorable_Code_Point. Codes that end
// in FFFE or FFFF are checked apart.
constexpr Range not_plain[] = {
    {0x0000, 0x001F},    // controls
    {0x007F, 0x009F},    // more of them; C1 as one character
    {0x00AD, 0x00AD},    // soft hyphen
    {0x034F, 0x034F},    // combining grapheme joiner
    {0x0600, 0x0605},    // Arabic signs over numbers
    {0x061C, 0x061C},    // Arabic letter mark
    {0x06DD, 0x06DD},    // Arabic end of a verse
    {0x070F, 0x070F},    // Syriac abbreviation mark
    {0x0890, 0x0891},    // Arabic pound and piastre marks
    {0x08E2, 0x08E2},    // Arabic disputed end of a verse
    {0x115F, 0x1160},    // Hangul fillers
    {0x17B4, 0x17B5},    // Khmer inherent vowels
    {0x180B, 0x180F},    // Mongolian selectors and vowel separator
    {0x200B, 0x200F},    // width of zero, joiners, directions
    {0x2028, 0x202E},    // line and paragraph separators, embeddings and overrides of the direction
    {0x2060, 0x206F},    // word joiner, invisible operators, isolates of the direction
    {0x3164, 0x3164},    // Hangul filler
    {0xE000, 0xF8FF},    // private use
    {0xFDD0, 0xFDEF},    // no characters
    {0xFE00, 0xFE0F},    // variation selectors
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFA0, 0xFFA0},    // halfwidth Hangul filler
    {0xFFF0, 0xFFFB},    // interlinear annotations
    {0x110BD, 0x110BD},  // Kaithi number signs
    {0x110CD, 0x110CD},  {0x13430, 0x1343F},  // Egyptian joiners
    {0x1BCA0, 0x1BCA3},                       // shorthand format controls
    {0x1D173, 0x1D17A},                       // musical format controls
    {0xE0000, 0xE0FFF},                       // tags, more variation selectors
    {0xF0000, 0x10FFFF},                      // private use
};

constexpr std::string_view hex_digits = "0123456789abcdef";

std::string hex(uint32_t value, int digits) {
    std::string text;
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += hex_digits[value >> shift & 0xF];
    return text;
}

std::string written_out(const Utf8Character &c) {
    if (c.broken || c.code < 0x80) {
        const auto byte = static_cast<unsigned char>(c.bytes.front());
        if (byte == '\n') return "\\n";
        if (byte == '\t') return "\\t";
        if (byte == '\r') return "\\r";
        return "\\x" + hex(byte, 2);
    }
    return c.code < 0x10000 ? "\\u" + hex(c.code, 4) : "\\U" + hex(c.code, 8);
}

// JSON writes codes beyond U+FFFF as two surrogates. A broken byte has no form in JSON.
std::string json_escape(const Utf8Character &c) {
    if (c.broken) return "\\ufffd";
    if (c.code < 0x10000) return "\\u" + hex(c.code, 4);
    const char32_t offset = c.code - 0x10000;
    return "\\u" + hex(0xD800 + (offset >> 10), 4) + "\\u" + hex(0xDC00 + (offset & 0x3FF), 4);
}

// Each character of the text, or what stands for it where it is neither plain nor one of `kept`.
std::string replaced(std::string_view text, std::string_view kept, std::string (*form)(const Utf8Character &)) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const Utf8Character c = first_character(text);
        const bool stays = !c.broken && (is_plain(c.code) || kept.find(c.bytes) != std::string_view::npos);
        if (stays) {
            result += c.bytes;
        } else {
            result += form(c);
        }
        text.remove_prefix(c.bytes.size());
    }
    return result;
}

}  // namespace

bool is_plain(char32_t code) {
    if ((code & 0xFFFE) == 0xFFFE) return false;
    const auto *range = std::lower_bound(std::begin(not_plain), std::end(not_plain), code,
                                         [](const Range &r, char32_t c) { return r.last < c; });
    return range == std::end(not_plain) || code < range->first;
}

std::string quoted_line(std::string_view text) { return replaced(text, "", written_out); }

std::string quoted_lines(std::string_view text) { return replaced(text, "\n\t", written_out); }

std::string quoted_json(std::string_view document) { return replaced(document, "\n\r\t", json_escape); }

}  // namespace kiln
