#include "database/record_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "database/record_json.h"

namespace kiln {

const std::string_view export_head = R"({"format":"database/1"})";

namespace {

constexpr std::array<std::string_view, std::variant_size_v<Record>> kinds = {"workload_name", "measurement", "trial",
                                                                             "race"};

template<size_t kind = 0>
Result<Record> parse_kind(const std::string &name, const Json &object) {
    if constexpr (kind < kinds.size()) {
        if (name != kinds[kind]) return parse_kind<kind + 1>(name, object);
        std::variant_alternative_t<kind, Record> value;
        if (FieldProblem problem = read_fields(object, &value)) return bad_input(name + ": " + *problem);
        return Record(std::move(value));
    }
    return bad_input(fmt::format("record: `{}` is unknown", name));
}

}  // namespace

std::string record_text(const Record &record) {
    RecordWriter writer;
    writer.object["record"] = kinds[record.index()];
    std::visit([&](const auto &value) { visit_fields(writer, value); }, record);
    return writer.object.dump();
}

Result<Record> parse_record(std::string_view line) {
    Json object = Json::parse(line, nullptr, false);
    if (!object.is_object()) return bad_input("not a JSON object");
    const auto kind = object.find("record");
    if (kind == object.end() || !kind->is_string()) return bad_input("record: is missing");
    const std::string name = kind->get<std::string>();
    object.erase("record");
    return parse_kind(name, object);
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
