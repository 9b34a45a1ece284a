#include "database/record_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kiln {
namespace {

bool is_utf8(const std::string &text) {
    try {
        (void)Json(text).dump();
        return true;
    } catch (const Json::type_error &) {
        return false;
    }
}

}  // namespace

Json RecordWriter::to_json(const std::string &text) {
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

Json RecordWriter::to_json(double value) {
    if (std::isinf(value)) return "inf";
    constexpr double exact = 9007199254740992;  // 2^53: whole numbers below are written without a point
    if (std::abs(value) < exact && value == std::trunc(value)) return static_cast<int64_t>(value);
    return value;
}

Json RecordWriter::to_json(const std::vector<double> &values) {
    Json array = Json::array();
    for (const double value : values) array.push_back(to_json(value));
    return array;
}

void RecordWriter::operator()(const char *name, const std::vector<RaceEntry> &entries, Presence) {
    Json array = Json::array();
    for (const RaceEntry &entry : entries) {
        RecordWriter writer;
        visit_fields(writer, entry);
        array.push_back(std::move(writer.object));
    }
    object[name] = std::move(array);
}

void RecordReader::refuse_others() {
    for (const std::string &name : fields_.names()) {
        if (std::ranges::find(names_, name) == names_.end()) fields_.fail(name, "unknown field");
    }
}

FieldProblem RecordReader::read(const Json &json, std::string *value) {
    if (json.is_string()) return read_value(json, value);
    if (!json.is_object() || json.size() != 1 || !json.contains("bytes") || !json["bytes"].is_string()) {
        return expected("a text", json);
    }
    const std::string characters = json["bytes"].get<std::string>();
    value->clear();
    for (size_t i = 0; i < characters.size(); ++i) {
        const auto byte = static_cast<unsigned char>(characters[i]);
        if (byte < 0x80) {
            *value += characters[i];
        } else if ((byte == 0xc2 || byte == 0xc3) && i + 1 < characters.size()) {
            *value += static_cast<char>((byte & 0x03) << 6 | (static_cast<unsigned char>(characters[++i]) & 0x3f));
        } else {
            return expected("characters up to U+00FF as bytes", json);
        }
    }
    return {};
}

FieldProblem RecordReader::read(const Json &json, double *value) {
    if (json != "inf") return json.is_number() ? read_value(json, value) : expected("a number or \"inf\"", json);
    *value = std::numeric_limits<double>::infinity();
    return {};
}

FieldProblem RecordReader::read(const Json &json, std::vector<double> *values) {
    if (!json.is_array()) return expected("a list of numbers", json);
    for (const Json &item : json) {
        if (FieldProblem problem = read(item, &values->emplace_back())) return problem;
    }
    return {};
}

FieldProblem RecordReader::read(const Json &json, std::vector<RaceEntry> *entries) {
    if (!json.is_array()) return expected("a list of entries", json);
    for (const Json &item : json) {
        if (FieldProblem problem = read_fields(item, &entries->emplace_back())) return "in an entry, " + *problem;
    }
    return {};
}

}  // namespace kiln
