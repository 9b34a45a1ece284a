#include "database/record_json.h"

#include <cmath>
#include <limits>

namespace kiln {
namespace {

bool is_utf8(const std::string &text) {
    try {
        (void)RecordJson(text).dump();
        return true;
    } catch (const RecordJson::type_error &) {
        return false;
    }
}

}  // namespace

RecordJson RecordWriter::to_json(const std::string &text) {
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

RecordJson RecordWriter::to_json(double value) {
    if (std::isinf(value)) return "inf";
    constexpr double exact = 9007199254740992;  // 2^53: whole numbers below are written without a point
    if (std::abs(value) < exact && value == std::trunc(value)) return static_cast<int64_t>(value);
    return value;
}

RecordJson RecordWriter::to_json(const std::vector<double> &values) {
    RecordJson array = RecordJson::array();
    for (const double value : values) array.push_back(to_json(value));
    return array;
}

void RecordWriter::operator()(const char *name, const std::vector<RaceEntry> &entries, Presence) {
    RecordJson array = RecordJson::array();
    for (const RaceEntry &entry : entries) {
        RecordWriter writer;
        visit_fields(writer, entry);
        array.push_back(std::move(writer.object));
    }
    object[name] = std::move(array);
}

RecordReader::Expected RecordReader::read(const RecordJson &json, std::string &value) {
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

RecordReader::Expected RecordReader::read(const RecordJson &json, double &value) {
    if (json == "inf") {
        value = std::numeric_limits<double>::infinity();
        return nullptr;
    }
    if (!json.is_number()) return "a number or \"inf\"";
    value = json.get<double>();
    return nullptr;
}

RecordReader::Expected RecordReader::read(const RecordJson &json, int64_t &value) {
    if (!json.is_number_integer()) return "a whole number";
    if (json.is_number_unsigned() && json.get<uint64_t>() > std::numeric_limits<int64_t>::max())
        return "a smaller number";
    value = json.get<int64_t>();
    return nullptr;
}

RecordReader::Expected RecordReader::read(const RecordJson &json, int &value) {
    int64_t wide = 0;
    if (const Expected expected = read(json, wide)) return expected;
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) return "a smaller number";
    value = static_cast<int>(wide);
    return nullptr;
}

RecordReader::Expected RecordReader::read(const RecordJson &json, std::vector<double> &values) {
    if (!json.is_array()) return "a list of numbers";
    values.clear();
    for (const RecordJson &item : json) {
        if (const Expected expected = read(item, values.emplace_back())) return expected;
    }
    return nullptr;
}

RecordReader::Expected RecordReader::read(const RecordJson &json, std::vector<RaceEntry> &entries) {
    if (!json.is_array()) return "a list of entries";
    for (const RecordJson &item : json) {
        if (!item.is_object()) return "a list of objects";
        RecordReader reader(item);
        visit_fields(reader, entries.emplace_back());
        if (std::string problem = reader.problem(); !problem.empty()) complain("in an entry, " + problem);
    }
    return nullptr;
}

std::string RecordReader::problem() {
    if (!object_.empty()) complain(fmt::format("field `{}` is unknown", object_.begin().key()));
    return problem_;
}

}  // namespace kiln
