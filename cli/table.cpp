#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/command.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

size_t display_width(std::string_view text) {  // UTF-8 characters
    return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// One line without control characters, and not too long: compilers say a lot. JSON and CSV keep everything.
std::string one_line(const std::string &text) {
    constexpr size_t longest = 500;
    const size_t end = std::min(text.find('\n'), longest);
    std::string line = text.substr(0, end);
    if (end < text.size()) line += "...";
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
    return line;
}

std::string cell_text(const Cell &cell) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return std::to_string(*integer);
    if (const auto *real = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *real);
    if (const auto *text = std::get_if<std::string>(&cell)) return *text;
    return "";
}

bool is_number(const Cell &cell) {
    if (const auto *text = std::get_if<std::string>(&cell)) {
        double value = 0;
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
        return error == std::errc() && end == text->data() + text->size();
    }
    return true;  // NULL too: it does not decide
}

void print_table(const Table &table) {
    const size_t columns = table.columns.size();
    std::vector<size_t> widths;
    std::vector<bool> right(columns, true);
    for (const std::string &column : table.columns) widths.push_back(display_width(column));
    std::vector<std::vector<std::string>> lines;
    for (const auto &row : table.rows) {
        std::vector<std::string> &line = lines.emplace_back();
        for (size_t i = 0; i < columns; i++) {
            line.push_back(one_line(cell_text(row[i])));
            widths[i] = std::max(widths[i], display_width(line.back()));
            if (!is_number(row[i])) right[i] = false;
        }
    }
    const auto print_line = [&](const std::vector<std::string> &line) {
        std::string text;
        for (size_t i = 0; i < columns; i++) {
            const std::string fill(widths[i] - display_width(line[i]), ' ');
            text += (i ? "  " : "") + (right[i] ? fill + line[i] : line[i] + fill);
        }
        text.erase(text.find_last_not_of(' ') + 1);
        fmt::print("{}\n", text);
    };
    print_line(table.columns);
    for (const auto &line : lines) print_line(line);
}

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

void print_json(const Table &table) {
    const std::vector<std::string> names = distinct_names(table.columns);
    fmt::print("[");
    for (size_t r = 0; r < table.rows.size(); r++) {
        Json object = Json::object();
        for (size_t i = 0; i < names.size(); i++) object[names[i]] = json_cell(table.rows[r][i]);
        fmt::print("{}\n  {}", r ? "," : "", object.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    fmt::print("{}]\n", table.rows.empty() ? "" : "\n");
}

std::string csv_field(const std::string &text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
    return quoted + "\"";
}

void print_csv(const Table &table) {
    const auto print_line = [](const std::vector<std::string> &fields) {
        std::string line;
        for (size_t i = 0; i < fields.size(); i++) line += (i ? "," : "") + csv_field(fields[i]);
        fmt::print("{}\n", line);
    };
    print_line(table.columns);
    for (const auto &row : table.rows) {
        std::vector<std::string> fields;
        for (const Cell &cell : row) {
            const auto *real = std::get_if<double>(&cell);
            fields.push_back(real ? fmt::format("{}", *real) : cell_text(cell));  // every digit
        }
        print_line(fields);
    }
}

}  // namespace

void print(const Table &table, TableFormat format) {
    switch (format) {
        case TableFormat::table:
            return print_table(table);
        case TableFormat::json:
            return print_json(table);
        case TableFormat::csv:
            return print_csv(table);
    }
}

}  // namespace kiln
