#include "text/excerpt.h"

namespace kiln {
namespace {

constexpr size_t longest = 200, head = 120, tail = 40;

bool continues_character(char c) { return (c & 0xC0) == 0x80; }

}  // namespace

std::string excerpt(std::string_view text) {
    if (text.size() <= longest) return std::string(text);
    size_t end = head, begin = text.size() - tail;
    // A character has at most four bytes.
    for (int i = 0; i < 3 && continues_character(text[end]); i++) end--;
    for (int i = 0; i < 3 && continues_character(text[begin]); i++) begin++;
    return std::string(text.substr(0, end)) + "[... " + std::to_string(begin - end) + " bytes ...]" +
           std::string(text.substr(begin));
}

}  // namespace kiln
