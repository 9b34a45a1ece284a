#include "database/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "records/record_fields.h"

namespace kiln {

const std::string_view export_head = R"({"format":"database/1"})";

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, std::variant_size_v<Record>> kinds = {"workload_name", "measurement", "trial",
                                                                             "race"};

// --- values as JSON; nothing where a field is left out ---

bool is_utf8(const std::string &text) {
    try {
        (void)Json(text).dump();
        return true;
    } catch (const Json::type_error &) {
        return false;
    }
}

Json to_json(const std::string &text) {
    if (is_utf8(text)) return text;
    std::string characters;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            characters += c;
        } else {
            characters += static_cast<char>(0xc0 | byte >> 6);
            characters += static_cast<char>(0x80 | (byte & 0x3f));
        }
    }
    return {{"bytes", characters}};
}

Json to_json(double value) {
    if (std::isinf(value)) return "inf";
    constexpr double exact = 9007199254740992;  // 2^53: whole numbers below are written without a point
    if (std::abs(value) < exact && value == std::trunc(value)) return static_cast<int64_t>(value);
    return value;
}

Json to_json(const std::vector<double> &values) {
    Json array = Json::array();
    for (const double value : values) array.push_back(to_json(value));
    return array;
}

template<typename Enumeration>
requires std::is_enum_v<Enumeration> Json to_json(Enumeration value) { return name(value); }

class FieldWriter {
public:
    Json object = Json::object();

    template<typename T>
    void operator()(const char *name, const T &value, bool required) {
        if (required || value != T()) object[name] = to_json(value);
    }
    template<typename T>
    void operator()(const char *name, const std::optional<T> &value, bool) {
        if (value) object[name] = json(*value);
    }
    void operator()(const char *name, std::vector<RaceEntry> &entries, bool) {
        Json array = Json::array();
        for (RaceEntry &entry : entries) {
            FieldWriter writer;
            visit_fields(writer, entry);
            array.push_back(std::move(writer.object));
        }
        object[name] = std::move(array);
    }

private:
    static Json json(int64_t value) { return value; }
    static Json json(double value) { return to_json(value); }
    static Json to_json(int value) { return value; }
    static Json to_json(int64_t value) { return value; }
    template<typename T>
    static Json to_json(const T &value) {
        return kiln::to_json(value);
    }
};

// --- and back; each answers what was expected where it does not fit ---

using Expected = const char *;

Expected from_json(const Json &json, std::string &value) {
    static constexpr Expected expected = "a text";
    if (json.is_string()) {
        value = json.get<std::string>();
        return nullptr;
    }
    if (!json.is_object() || json.size() != 1 || !json.contains("bytes") || !json["bytes"].is_string()) return expected;
    const std::string characters = json["bytes"].get<std::string>();
    value.clear();
    for (size_t i = 0; i < characters.size(); ++i) {
        const auto byte = static_cast<unsigned char>(characters[i]);
        if (byte < 0x80) {
            value += characters[i];
        } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < characters.size()) {
            value += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(characters[++i]) & 0x3f));
        } else {
            return "characters up to U+00FF as bytes";
        }
    }
    return nullptr;
}

Expected from_json(const Json &json, double &value) {
    if (json == "inf") {
        value = std::numeric_limits<double>::infinity();
        return nullptr;
    }
    if (!json.is_number()) return "a number or \"inf\"";
    value = json.get<double>();
    return nullptr;
}

Expected from_json(const Json &json, int64_t &value) {
    if (!json.is_number_integer()) return "a whole number";
    if (json.is_number_unsigned() && json.get<uint64_t>() > std::numeric_limits<int64_t>::max())
        return "a smaller number";
    value = json.get<int64_t>();
    return nullptr;
}

Expected from_json(const Json &json, int &value) {
    int64_t wide = 0;
    if (const Expected expected = from_json(json, wide)) return expected;
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) return "a smaller number";
    value = static_cast<int>(wide);
    return nullptr;
}

Expected from_json(const Json &json, std::vector<double> &values) {
    if (!json.is_array()) return "a list of numbers";
    values.clear();
    for (const Json &item : json) {
        if (const Expected expected = from_json(item, values.emplace_back())) return expected;
    }
    return nullptr;
}

template<typename Enumeration, typename Parse>
Expected from_name(const Json &json, Enumeration &value, const Parse &parse) {
    const auto known = json.is_string() ? parse(json.get<std::string>()) : std::nullopt;
    if (!known) return "a known name";
    value = *known;
    return nullptr;
}
Expected from_json(const Json &json, TrialStatus &value) { return from_name(json, value, parse_trial_status); }
Expected from_json(const Json &json, CacheMode &value) { return from_name(json, value, parse_cache_mode); }
Expected from_json(const Json &json, Metric &value) { return from_name(json, value, parse_metric); }

template<typename T>
Expected from_json(const Json &json, std::optional<T> &value) {
    return from_json(json, value.emplace());
}

// Takes fields out of an object; the first problem stays.
class FieldReader {
public:
    explicit FieldReader(Json object) : object_(std::move(object)) {}

    template<typename T>
    void operator()(const char *name, T &value, bool required) {
        const auto field = object_.find(name);
        if (field == object_.end()) {
            if (required) complain(fmt::format("field `{}` is missing", name));
            return;
        }
        if (const Expected expected = read(*field, value)) {
            complain(fmt::format("field `{}` needs {}", name, expected));
        }
        object_.erase(name);
    }

    // What is wrong, or nothing. Call after all fields were read.
    std::string problem() {
        if (!object_.empty()) complain(fmt::format("field `{}` is unknown", object_.begin().key()));
        return problem_;
    }

private:
    void complain(std::string problem) {
        if (problem_.empty()) problem_ = std::move(problem);
    }

    template<typename T>
    Expected read(const Json &json, T &value) {
        return from_json(json, value);
    }
    Expected read(const Json &json, std::vector<RaceEntry> &entries) {
        if (!json.is_array()) return "a list of entries";
        for (const Json &item : json) {
            if (!item.is_object()) return "a list of objects";
            FieldReader reader(item);
            visit_fields(reader, entries.emplace_back());
            if (std::string problem = reader.problem(); !problem.empty()) complain("in an entry, " + problem);
        }
        return nullptr;
    }

    Json object_;
    std::string problem_;
};

template<size_t kind = 0>
Result<Record> parse_kind(const std::string &name, Json object) {
    if constexpr (kind < kinds.size()) {
        if (name != kinds[kind]) return parse_kind<kind + 1>(name, std::move(object));
        std::variant_alternative_t<kind, Record> value;
        FieldReader reader(std::move(object));
        visit_fields(reader, value);
        if (std::string problem = reader.problem(); !problem.empty()) return bad_input(name + ": " + problem);
        return Record(std::move(value));
    }
    return bad_input(fmt::format("field `record`: `{}` is unknown", name));
}

}  // namespace

std::string record_text(const Record &record) {
    FieldWriter writer;
    writer.object["record"] = kinds[record.index()];
    Record copy = record;  // one list of fields serves reading, too, and is not const
    std::visit([&](auto &value) { visit_fields(writer, value); }, copy);
    return writer.object.dump();
}

Result<Record> parse_record(std::string_view line) {
    Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) return bad_input("not a JSON object");
    const auto kind = object.find("record");
    if (kind == object.end() || !kind->is_string()) return bad_input("field `record` is missing");
    const std::string name = kind->get<std::string>();
    object.erase("record");
    return parse_kind(name, std::move(object));
}

Result<std::vector<Record>> parse_export(std::string_view text, const std::string &file) {
    if (text.substr(0, text.find_first_of("\r\n")) != export_head) {
        return bad_input(
            fmt::format("{}: does not begin with {}; write such a file with `kiln db export`", file, export_head));
    }
    std::vector<Record> records;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);    // git may have changed the ends of lines
        if (line.empty() || line == export_head) continue;  // the head again: exports one after the other
        const auto error = [&](const Error &what) {
            return bad_input(fmt::format("{}: line {}: {}; nothing was imported", file, number, what.message));
        };
        Result<Record> record = parse_record(line);
        if (!record) return error(record.error());
        if (Status status = check_content(*record); !status) return error(status.error());
        records.push_back(std::move(*record));
    }
    std::ranges::stable_sort(records, {}, &Record::index);
    return records;
}

}  // namespace kiln
