#include "cli/answers/help_text.h"

#include <algorithm>
#include <optional>

namespace kiln {
namespace {

// Where CLI11 begins descriptions, and what they have on a terminal that is too narrow for anything.
constexpr size_t description_column = 30, narrowest_description = 20;

// Where the lines that continue this one begin; nothing where it must stay one line.
std::optional<size_t> indentation(std::string_view line) {
    if (!line.starts_with(' ')) return 0;
    if (line.starts_with("  kiln ") || line.size() <= description_column) return std::nullopt;
    const bool is_described = line[description_column - 1] == ' ' && line[description_column] != ' ';
    return is_described ? std::optional(description_column) : std::nullopt;
}

std::string wrapped_line(std::string line, size_t width) {
    const std::optional<size_t> indent = indentation(line);
    if (!indent) return line;
    width = std::max(width, *indent + narrowest_description);
    std::string lines;
    while (line.size() > width) {
        size_t blank = line.rfind(' ', width);
        if (blank == std::string::npos || blank <= *indent) blank = line.find(' ', width);  // a word of any length
        if (blank == std::string::npos) break;
        lines += line.substr(0, blank) + "\n";
        line = std::string(*indent, ' ') + line.substr(blank + 1);
    }
    return lines + line;
}

}  // namespace

std::string wrapped_help(std::string_view text, int width) {
    std::string result;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        result += wrapped_line(std::string(text.substr(0, end)), static_cast<size_t>(std::max(width, 0)));
        if (end < text.size()) result += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return result;
}

}  // namespace kiln
