#include "database/record_text.h"

#include <fmt/format.h>

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
    constexpr int deepest_level = 8;
    Result<Json> parsed = parse_json(line, deepest_level);
    if (!parsed) return parsed.error();
    Json &object = *parsed;
    if (!object.is_object()) return bad_input("not a JSON object");
    const auto kind = object.find("record");
    if (kind == object.end() || !kind->is_string()) return bad_input("record: is missing");
    const std::string name = kind->get<std::string>();
    object.erase("record");
    return parse_kind(name, object);
}

}  // namespace kiln
