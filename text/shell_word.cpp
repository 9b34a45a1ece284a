#include "text/shell_word.h"

#include <algorithm>

#include "text/quoted_text.h"

namespace kiln {
namespace {

bool is_safe(unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./:=@%+,-").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string with_escapes(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\' || c == '\'') escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

std::string shell_word(std::string_view text) {
    if (!text.empty() && std::all_of(text.begin(), text.end(), is_safe)) return std::string(text);
    if (quoted_line(text) != text) return "$'" + quoted_line(with_escapes(text)) + "'";
    std::string word = "'";
    for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

}  // namespace kiln
