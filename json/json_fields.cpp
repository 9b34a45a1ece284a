#include "json/json_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kiln {
namespace {

// These stand for an object that is none and for a list that is none.
const Json &no_fields() {
    static const Json empty = Json::object();
    return empty;
}
const Json &no_entries() {
    static const Json empty = Json::array();
    return empty;
}

}  // namespace

JsonFields::JsonFields(const Json &object, std::string where, FieldProblem *problem)
    : object_(object.is_object() ? object : no_fields()), where_(std::move(where)), problem_(problem) {
    if (!object.is_object() && ok()) *problem_ = where_ + *expected("an object", object);
}

void JsonFields::fail(std::string_view name, std::string_view problem) {
    if (ok()) *problem_ = fmt::format("{}{}: {}", where_, name, problem);
}

std::vector<std::string> JsonFields::names() const {
    std::vector<std::string> names;
    for (const auto &[name, value] : object_.items()) names.push_back(name);
    return names;
}

const Json *JsonFields::find(std::string_view name) {
    const auto found = object_.find(name);
    if (found != object_.end()) return &*found;
    fail(name, "is missing");
    return nullptr;
}

JsonFields JsonFields::object(std::string_view name) {
    const Json *value = find(name);
    return JsonFields(value ? *value : no_fields(), fmt::format("{}{}: ", where_, name), problem_);
}

std::optional<JsonFields> JsonFields::object_or_null(std::string_view name) {
    const Json *value = find(name);
    if (!value || value->is_null()) return std::nullopt;
    if (!value->is_object()) {
        fail(name, *expected("an object or null", *value));
        return std::nullopt;
    }
    return object(name);
}

const Json &JsonFields::list(std::string_view name) {
    const Json *value = find(name);
    if (!value) return no_entries();
    if (value->is_array()) return *value;
    fail(name, *expected("a list", *value));
    return no_entries();
}

void JsonFields::allow_only(std::initializer_list<std::string_view> names) {
    for (const auto &[name, value] : object_.items()) {
        if (std::ranges::find(names, name) == names.end()) {
            fail(name, fmt::format("unknown field; allowed are {}", fmt::join(names, ", ")));
        }
    }
}

}  // namespace kiln
