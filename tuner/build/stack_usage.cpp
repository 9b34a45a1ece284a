#include "tuner/build/stack_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace kiln {
namespace {

// Nothing: the line has another form.
std::optional<FunctionStack> parse_line(std::string_view line) {
    const size_t first = line.find('\t'), second = first == line.npos ? line.npos : line.find('\t', first + 1);
    if (second == line.npos) return {};
    const std::string_view place = line.substr(0, first), number = line.substr(first + 1, second - first - 1);
    const std::string_view kind = line.substr(second + 1);
    FunctionStack stack;
    stack.function = place.substr(place.rfind(':') + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), stack.bytes);
    if (error != std::errc() || end != number.data() + number.size() || stack.bytes < 0) return {};
    if (stack.function.empty()) return {};
    stack.is_bounded = kind == "static" || kind == "dynamic,bounded";
    return stack;
}

}  // namespace

Result<std::vector<FunctionStack>> parse_stack_usage(std::string_view text, const std::string &name) {
    std::vector<FunctionStack> functions;
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty()) continue;
        std::optional<FunctionStack> stack = parse_line(line);
        if (!stack) return environment_error(fmt::format("{}: not a line of -fstack-usage: `{}`", name, line));
        functions.push_back(std::move(*stack));
    }
    return functions;
}

int64_t most_stack(const std::vector<FunctionStack> &functions, std::string_view left_out) {
    int64_t bytes = 0;
    for (const FunctionStack &stack : functions) {
        if (stack.function.find(left_out) != stack.function.npos) continue;
        if (!stack.is_bounded) return std::numeric_limits<int64_t>::max();
        bytes += stack.bytes;
    }
    return bytes;
}

}  // namespace kiln
