// The fields of a record as those of a JSON object, by its list of fields (records/record_fields.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "json/json_fields.h"
#include "records/record_fields.h"

namespace kiln {

// Writes fields into an object, and leaves out those without a value.
class RecordWriter {
public:
    Json object = Json::object();

    template<typename T>
    void operator()(const char *name, const T &value, Presence presence) {
        if (presence == Presence::required || value != T()) object[name] = to_json(value);
    }
    void operator()(const char *name, const std::vector<RaceEntry> &entries, Presence);

private:
    static Json to_json(const std::string &text);
    static Json to_json(double value);
    static Json to_json(int64_t value) { return value; }
    static Json to_json(int value) { return value; }
    static Json to_json(const std::vector<double> &values);
    template<typename T>
    static Json to_json(const std::optional<T> &value) {
        return value ? to_json(*value) : Json();
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static Json to_json(Enumeration value) { return name(value); }
};

// Reads fields out of an object; `problem` is as in JsonFields.
class RecordReader {
public:
    // The object outlives the reader.
    RecordReader(const Json &object, FieldProblem *problem) : fields_(object, "", problem) {}

    template<typename T>
    void operator()(const char *name, T &value, Presence presence) {
        names_.emplace_back(name);
        if (presence != Presence::required && !fields_.has(name)) return;
        value = fields_.get<T>(name, [](const Json &json, T *result) { return read(json, result); });
    }

    // After all fields were read.
    void refuse_others();

private:
    static FieldProblem read(const Json &json, std::string *value);
    static FieldProblem read(const Json &json, double *value);
    static FieldProblem read(const Json &json, int64_t *value) { return read_value(json, value); }
    static FieldProblem read(const Json &json, int *value) { return read_value(json, value); }
    static FieldProblem read(const Json &json, std::vector<double> *values);
    static FieldProblem read(const Json &json, std::vector<RaceEntry> *entries);
    template<typename T>
    static FieldProblem read(const Json &json, std::optional<T> *value) {
        return read(json, &value->emplace());
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static FieldProblem read(const Json &json, Enumeration *value) {
        const bool is_known = json.is_string() && parse_name(json.get<std::string>(), *value);
        return is_known ? FieldProblem() : expected("a known name", json);
    }

    JsonFields fields_;
    std::vector<std::string> names_;
};

// All fields of a record, and no others.
template<typename Stored>
FieldProblem read_fields(const Json &object, Stored *record) {
    FieldProblem problem;
    RecordReader reader(object, &problem);
    visit_fields(reader, *record);
    reader.refuse_others();
    return problem;
}

}  // namespace kiln
