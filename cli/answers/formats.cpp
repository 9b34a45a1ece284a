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

// Whatever a spreadsheet may skip before it looks for a formula.
bool may_be_formula(std::string_view text) {
    constexpr std::string_view skipped = " \t\r\n\v\f";
    if (text.empty() || skipped.substr(1).find(text.front()) != std::string_view::npos) return !text.empty();
    text.remove_prefix(std::min(text.find_first_not_of(skipped), text.size()));
    constexpr std::string_view beginnings[] = {"=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
    return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return text.starts_with(beginning); });
}

std::string csv_field(std::string text, Formulas formulas) {
    if (formulas == Formulas::guarded && may_be_formula(text)) text.insert(0, 1, '\'');
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

std::string csv_cell(const Cell &cell, Formulas formulas) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
    if (const auto *real = std::get_if<double>(&cell)) return fmt::format("{}", *real);  // every digit
    if (const auto *text = std::get_if<std::string>(&cell)) return csv_field(*text, formulas);
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

std::string csv_text(const Table &table, Formulas formulas) {
    std::string text;
    for (size_t i = 0; i < table.columns.size(); i++) text += (i ? "," : "") + csv_field(table.columns[i], formulas);
    text += '\n';
    for (const auto &row : table.rows) {
        for (size_t i = 0; i < row.size(); i++) text += (i ? "," : "") + csv_cell(row[i], formulas);
        text += '\n';
    }
    return text;
}

}  // namespace kiln
