#include "json/json_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "json/json_depth.h"

namespace kiln {
namespace {

std::string shown(const Json &value) {
    std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
}

// The integer of a value that has one of 64 bits.
std::optional<int64_t> integer_of(const Json &value) {
    if (!value.is_number_integer()) return std::nullopt;
    if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(std::numeric_limits<int64_t>::max())) {
        return std::nullopt;
    }
    return value.get<int64_t>();
}

// The parser's message without its error number: "parse error at line 3, column 7: syntax error ...".
std::string parse_message(const Json::exception &error) {
    const std::string text = error.what();
    const size_t end = text.find("] ");
    return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

FieldProblem expected(std::string_view what, const Json &value) {
    return fmt::format("needs {}; got {}", what, shown(value));
}

FieldProblem read_value(const Json &value, bool *result) {
    if (!value.is_boolean()) return expected("true or false", value);
    *result = value.get<bool>();
    return {};
}

FieldProblem read_value(const Json &value, double *result) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) return expected("a number", value);
    *result = value.get<double>();
    return {};
}

FieldProblem read_value(const Json &value, int64_t *result) {
    const auto integer = integer_of(value);
    if (!integer) return expected("a whole number", value);
    *result = *integer;
    return {};
}

FieldProblem read_value(const Json &value, int *result) {
    int64_t wide = 0;
    constexpr auto smallest = std::numeric_limits<int>::min(), largest = std::numeric_limits<int>::max();
    if (FieldProblem problem = read_integer(value, smallest, largest, &wide)) return problem;
    *result = static_cast<int>(wide);
    return {};
}

FieldProblem read_value(const Json &value, std::string *result) {
    if (!value.is_string()) return expected("a text", value);
    *result = value.get<std::string>();
    return {};
}

FieldProblem read_text(const Json &value, std::string *result) {
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    std::string text;
    const bool printable = !read_value(value, &text) && !text.empty() && std::ranges::none_of(text, is_control);
    if (!printable) return expected("a text of printable characters", value);
    *result = std::move(text);
    return {};
}

FieldProblem read_integer(const Json &value, int64_t smallest, int64_t largest, int64_t *result) {
    const auto integer = integer_of(value);
    if (!integer || *integer < smallest || *integer > largest) {
        return expected(fmt::format("an integer from {} to {}", smallest, largest), value);
    }
    *result = *integer;
    return {};
}

Result<Json> parse_json(std::string_view text, int deepest_level, const Json::parser_callback_t &see) {
    if (json_depth(text) > deepest_level) {
        return bad_input(fmt::format("is nested more than {} levels deep", deepest_level));
    }
    // The parser takes it for the end of the text.
    if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
        return bad_input(fmt::format("not JSON: byte {} is NUL", nul));
    }
    try {
        return Json::parse(text, see);
    } catch (const Json::exception &error) {
        return bad_input("not JSON: " + parse_message(error));
    }
}

}  // namespace kiln
