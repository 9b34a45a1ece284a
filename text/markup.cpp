#include "text/markup.h"

#include "text/quoted_text.h"

namespace kiln {
namespace {

std::string xml_character(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {c};
    }
}

// Bytes of characters beyond ASCII count as letters.
bool is_letter_or_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c & 0x80) != 0;
}

// Whether a character begins markup where it stands. An underscore within a word does not.
bool is_mark(std::string_view text, size_t at) {
    constexpr std::string_view marks = "\\`*[]|~";
    if (text[at] != '_') return marks.find(text[at]) != std::string_view::npos;
    const bool after = at > 0 && is_letter_or_digit(text[at - 1]);
    const bool before = at + 1 < text.size() && is_letter_or_digit(text[at + 1]);
    return !after || !before;
}

std::string octal(unsigned char byte) {
    std::string text = "\\";
    for (const int shift : {6, 3, 0}) text += static_cast<char>('0' + (byte >> shift & 7));
    return text;
}

}  // namespace

std::string xml_text(std::string_view text) {
    std::string result;
    for (const char c : quoted_line(text)) result += xml_character(c);
    return result;
}

std::string markdown_text(std::string_view text) {
    const std::string line = quoted_line(text);
    std::string result;
    for (size_t i = 0; i < line.size(); i++) {
        const bool is_html = line[i] == '&' || line[i] == '<' || line[i] == '>';
        if (is_mark(line, i)) result += '\\';
        result += is_html ? xml_character(line[i]) : std::string(1, line[i]);
    }
    return result;
}

// In labels Graphviz reads backslashes and HTML's entities too.
std::string graphviz_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += {'\\', c};
        } else if (c == '&') {
            result += "&amp;";
        } else if (c == '\n') {
            result += "\\n";
        } else {
            result += c;
        }
    }
    return result + '"';
}

std::string comment_text(std::string_view text) {
    std::string result;
    for (const char c : quoted_line(text)) {
        const char last = result.empty() ? ' ' : result.back();
        if ((last == '*' && c == '/') || (last == '/' && c == '*')) result += ' ';
        result += c;
    }
    return result;
}

std::string c_string(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        // An octal escape ends after three digits, so the next character never becomes a part of it. `?` could begin a
        // trigraph.
        const bool stays = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
        result += stays ? std::string(1, c) : octal(static_cast<unsigned char>(c));
    }
    return result + '"';
}

}  // namespace kiln
