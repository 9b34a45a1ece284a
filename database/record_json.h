// The fields of a record as those of a JSON object, by its list of fields (records/record_fields.h).
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "records/record_fields.h"

namespace kiln {

using RecordJson = nlohmann::ordered_json;  // fields in the order of the list

// Writes fields into an object, and leaves out those without a value.
class RecordWriter {
public:
    RecordJson object = RecordJson::object();

    template<typename T>
    void operator()(const char *name, const T &value, Presence presence) {
        if (presence == Presence::required || value != T()) object[name] = to_json(value);
    }
    void operator()(const char *name, const std::vector<RaceEntry> &entries, Presence);

private:
    static RecordJson to_json(const std::string &text);
    static RecordJson to_json(double value);
    static RecordJson to_json(int64_t value) { return value; }
    static RecordJson to_json(int value) { return value; }
    static RecordJson to_json(const std::vector<double> &values);
    template<typename T>
    static RecordJson to_json(const std::optional<T> &value) {
        return value ? to_json(*value) : RecordJson();
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static RecordJson to_json(Enumeration value) { return name(value); }
};

// Takes fields out of an object; the first problem stays.
class RecordReader {
public:
    explicit RecordReader(RecordJson object) : object_(std::move(object)) {}

    template<typename T>
    void operator()(const char *name, T &value, Presence presence) {
        const auto field = object_.find(name);
        if (field == object_.end()) {
            if (presence == Presence::required) complain(fmt::format("field `{}` is missing", name));
            return;
        }
        if (const Expected expected = read(*field, value)) {
            complain(fmt::format("field `{}` needs {}", name, expected));
        }
        object_.erase(name);
    }

    // What is wrong, or nothing. Call after all fields were read.
    std::string problem();

private:
    using Expected = const char *;  // null where the value was read

    void complain(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
    }

    static Expected read(const RecordJson &json, std::string &value);
    static Expected read(const RecordJson &json, double &value);
    static Expected read(const RecordJson &json, int64_t &value);
    static Expected read(const RecordJson &json, int &value);
    static Expected read(const RecordJson &json, std::vector<double> &values);
    template<typename T>
    static Expected read(const RecordJson &json, std::optional<T> &value) {
        return read(json, value.emplace());
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static Expected read(const RecordJson &json, Enumeration &value) {
        return json.is_string() && parse_name(json.get<std::string>(), value) ? nullptr : "a known name";
    }
    Expected read(const RecordJson &json, std::vector<RaceEntry> &entries);

    RecordJson object_;
    std::string problem_;
};

}  // namespace kiln
