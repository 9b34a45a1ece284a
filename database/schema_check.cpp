#include "database/schema_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>

namespace kiln {
namespace {

// Parts of a schema, as SQLite keeps them. An index that belongs to a constraint has no text.
using Part = std::vector<Cell>;  // type, name, table, text
constexpr size_t type_column = 0, name_column = 1;

Result<std::vector<Part>> parts_of(const Connection &connection, size_t most) {
    Result<Table> parts =
        connection.query("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name LIMIT ?",
                         {static_cast<int64_t>(most)});
    if (!parts) return parts.error();
    return std::move(parts->rows);
}

Result<std::vector<Part>> expected_parts(const std::vector<MigrationStep> &steps, int64_t version) {
    std::vector<MigrationStep> known;
    std::ranges::copy_if(steps, std::back_inserter(known), [&](const auto &step) { return step.version <= version; });
    const Result<Connection> made = Connection::open(":memory:", OpenMode::create);
    if (!made) return made.error();
    if (!known.empty()) {
        if (Status status = migrate(*made, known); !status) return status.error();
    }
    return parts_of(*made, 10'000);
}

std::string name_of(const Part &part) {
    const auto text = [&](size_t column) {
        const auto *value = std::get_if<std::string>(&part[column]);
        return value ? *value : std::string("?");
    };
    return fmt::format("{} `{}`", text(type_column), text(name_column));
}

bool has_name_of(const std::vector<Part> &parts, const Part &part) {
    return std::ranges::any_of(parts, [&](const Part &other) {
        return other[type_column] == part[type_column] && other[name_column] == part[name_column];
    });
}

// The part in which two schemas differ, as a sentence.
std::string difference(const std::vector<Part> &expected, const std::vector<Part> &found) {
    for (const Part &part : found) {
        const auto count = std::ranges::count(found, part);
        if (count == 1 && std::ranges::count(expected, part) == 1) continue;
        if (!has_name_of(expected, part) || count > 1) {
            return fmt::format("the {} is not kiln's; drop it, if it is your own, with `sqlite3 FILE`", name_of(part));
        }
        return fmt::format("the {} was changed", name_of(part));
    }
    for (const Part &part : expected) {
        if (!has_name_of(found, part)) return fmt::format("the {} is missing", name_of(part));
    }
    return "it has other tables";
}

}  // namespace

Status check_schema(const Connection &connection, const std::vector<MigrationStep> &steps) {
    Result<Transaction> snapshot = Transaction::begin_reading(connection);  // another process may migrate it now
    if (!snapshot) return snapshot.error();
    const Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    const Result<std::vector<Part>> expected = expected_parts(steps, *version);
    if (!expected) return expected.error();
    const Result<std::vector<Part>> found = parts_of(connection, expected->size() + 1);
    if (!found) return found.error();
    if (*found == *expected) return {};
    return bad_input(
        fmt::format("{}: not a database as kiln makes it: {}. Restore a copy, or ask for what `kiln db "
                    "export` writes and import that",
                    connection.path(), difference(*expected, *found)));
}

}  // namespace kiln
