#include "package/templates/template_text.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace kiln {

std::string filled(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
    std::string result;
    for (;;) {
        const size_t begin = text.find('@'), end = begin == text.npos ? text.npos : text.find('@', begin + 1);
        if (end == text.npos) return result.append(text);
        const std::string_view name = text.substr(begin + 1, end - begin - 1);
        const auto value = std::ranges::find(values, name, &std::pair<std::string_view, std::string>::first);
        assert(value != values.end());
        result.append(text.substr(0, begin)).append(value->second);
        text.remove_prefix(end + 1);
    }
}

std::string upper(std::string name) {
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return name;
}

}  // namespace kiln
