// Values of JSON that comes from outside: one reader a type. A reader fills the result, or says what it needs and what
// was there. Nothing throws, and no value is converted silently: 1.5 is no whole number, "1" is no number.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/result.h"

namespace kiln {

using Json = nlohmann::ordered_json;  // fields in the order of the file

// Says why a value is refused and what is allowed instead. Empty when the value was read.
using FieldProblem = std::optional<std::string>;

FieldProblem expected(std::string_view what, const Json &value);  // "needs `what`; got ..."

FieldProblem read_value(const Json &value, bool *result);
FieldProblem read_value(const Json &value, double *result);  // finite
FieldProblem read_value(const Json &value, int64_t *result);
FieldProblem read_value(const Json &value, int *result);
FieldProblem read_value(const Json &value, std::string *result);

FieldProblem read_text(const Json &value, std::string *result);  // printable characters, at least one
FieldProblem read_integer(const Json &value, int64_t smallest, int64_t largest, int64_t *result);

// `null` is nothing.
template<typename T>
FieldProblem read_value(const Json &value, std::optional<T> *result) {
    result->reset();
    if (value.is_null()) return {};
    const FieldProblem problem = read_value(value, &result->emplace());
    if (problem) result->reset();
    return problem;
}

template<typename T>
FieldProblem read_value(const Json &value, std::vector<T> *result) {
    if (!value.is_array()) return expected("a list", value);
    result->clear();
    for (const Json &entry : value) {
        T read{};
        if (FieldProblem problem = read_value(entry, &read)) return problem;
        result->push_back(std::move(read));
    }
    return {};
}

// A value with a name: `parse` answers what a text stands for, `allowed` says what it knows.
template<typename T, typename Parse>
FieldProblem read_name(const Json &value, const Parse &parse, std::string_view allowed, T *result) {
    if (value.is_string()) {
        if (const auto parsed = parse(value.get_ref<const std::string &>())) {
            *result = *parsed;
            return {};
        }
    }
    return expected(allowed, value);
}

// The document in a text; `see` is told of each part as it is parsed. Errors are without the text's name: not JSON,
// with the place; nested deeper than the reader can walk.
Result<Json> parse_json(std::string_view text, int deepest_level, const Json::parser_callback_t &see = nullptr);

}  // namespace kiln
