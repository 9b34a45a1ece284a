#include "cli/answers/formats.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

Json json_cell(const Cell &cell) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return *integer;
    if (const auto *real = std::get_if<double>(&cell)) return *real;
    if (const auto *text = std::get_if<std::string>(&cell)) return *text;
    return nullptr;
}

// A user's query may name two columns alike; an object's keys must differ.
std::vector<std::string> distinct_names(const std::vector<std::string> &columns) {
    std::vector<std::string> names;
    for (const std::string &column : columns) {
        std::string name = column;
        for (int n = 2; std::find(names.begin(), names.end(), name) != names.end(); n++) {
            name = fmt::format("{}:{}", column, n);
        }
        names.push_back(name);
    }
    return names;
}

std::string csv_field(const std::string &text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string csv_cell(const Cell &cell) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
    if (const auto *real = std::get_if<double>(&cell)) return fmt::format("{}", *real);  // every digit
    if (const auto *text = std::get_if<std::string>(&cell)) return csv_field(*text);
    return "";
}

}  // namespace

std::string json_text(const Table &table) {
    const std::vector<std::string> names = distinct_names(table.columns);
    std::string text = "[";
    for (size_t r = 0; r < table.rows.size(); r++) {
        Json object = Json::object();
        for (size_t i = 0; i < names.size(); i++) object[names[i]] = json_cell(table.rows[r][i]);
        text += r ? ",\n  " : "\n  ";
        text += object.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    return text + (table.rows.empty() ? "]\n" : "\n]\n");
}

std::string csv_text(const Table &table) {
    std::string text;
    for (size_t i = 0; i < table.columns.size(); i++) text += (i ? "," : "") + csv_field(table.columns[i]);
    text += '\n';
    for (const auto &row : table.rows) {
        for (size_t i = 0; i < row.size(); i++) text += (i ? "," : "") + csv_cell(row[i]);
        text += '\n';
    }
    return text;
}

}  // namespace kiln
