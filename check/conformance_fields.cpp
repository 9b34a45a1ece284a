#include "check/conformance_fields.h"

#include <fmt/format.h>

namespace kiln {
namespace {

using Json = nlohmann::json;

// What an absent field and an object that is none read as.
const Json &nothing() {
    static const Json null;
    return null;
}
const Json &no_fields() {
    static const Json empty = Json::object();
    return empty;
}

bool is_size(const Json &value) {
    return value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX));
}

}  // namespace

ConformanceFields::ConformanceFields(const Json &object, std::string where)
    : object_(object.is_object() ? object : no_fields()), where_(std::move(where)) {
    if (!object.is_object()) error_ = bad_input(where_ + ": must be an object");
}

void ConformanceFields::fail(std::string_view field, std::string_view problem) {
    if (!error_) error_ = bad_input(fmt::format("{}: {}: {}", where_, field, problem));
}

void ConformanceFields::take(const Status &status) {
    if (!error_ && !status) error_ = status.error();
}

const Json &ConformanceFields::value(std::string_view field) {
    const auto found = object_.find(field);
    if (found != object_.end()) return *found;
    fail(field, "is missing");
    return nothing();
}

std::string ConformanceFields::text(std::string_view field) {
    const Json &v = value(field);
    if (v.is_string()) return v.get<std::string>();
    fail(field, "must be a string");
    return {};
}

bool ConformanceFields::boolean(std::string_view field) {
    if (!has(field)) return false;
    const Json &v = value(field);
    if (!v.is_boolean()) fail(field, "must be true or false");
    return v.is_boolean() && v.get<bool>();
}

int64_t ConformanceFields::integer(std::string_view field) {
    const Json &v = value(field);
    if (is_size(v)) return v.get<int64_t>();
    fail(field, "must be an integer");
    return 0;
}

double ConformanceFields::number(std::string_view field) {
    const Json &v = value(field);
    if (v.is_number()) return v.get<double>();
    fail(field, "must be a number");
    return 0;
}

std::vector<int64_t> ConformanceFields::integers(std::string_view field) {
    const Json &v = value(field);
    std::vector<int64_t> result;
    bool good = v.is_array();
    for (size_t i = 0; good && i < v.size(); i++) {
        good = is_size(v[i]);
        if (good) result.push_back(v[i].get<int64_t>());
    }
    if (!good) fail(field, "must be a list of integers");
    return result;
}

std::vector<Padding> ConformanceFields::padding(std::string_view field) {
    const Json &v = value(field);
    std::vector<Padding> result;
    bool good = v.is_array();
    for (size_t i = 0; good && i < v.size(); i++) {
        good = v[i].is_array() && v[i].size() == 2 && is_size(v[i][0]) && is_size(v[i][1]);
        if (good) result.push_back({v[i][0].get<int64_t>(), v[i][1].get<int64_t>()});
    }
    if (!good) fail(field, "must be a list of pairs [[lo, hi], ...]");
    return result;
}

std::vector<std::string> ConformanceFields::texts(std::string_view field) {
    std::vector<std::string> result;
    if (!has(field)) return result;
    const Json &v = value(field);
    bool good = v.is_array();
    for (size_t i = 0; good && i < v.size(); i++) {
        good = v[i].is_string();
        if (good) result.push_back(v[i].get<std::string>());
    }
    if (!good) fail(field, "must be a list of strings");
    return result;
}

ConformanceFields ConformanceFields::object(std::string_view field) {
    return ConformanceFields(value(field), fmt::format("{}: {}", where_, field));
}

}  // namespace kiln
