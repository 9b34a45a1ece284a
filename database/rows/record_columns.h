// Records as rows. A record's list of fields (records/record_fields.h) gives the columns to select, the statement that
// inserts, its parameters, and the reader of a row. A field's column has the field's name. References to rows of other
// tables are the exception: they are written as an integer and read as the text of that row.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "database/sqlite.h"
#include "records/record_fields.h"
#include "records/sample_list.h"
#include "workload/result.h"

namespace kiln {

// Where a kind of record is kept and where it is read; docs/database.md.
struct RecordTable {
    std::string_view table;
    std::string_view view;  // with the texts that the table refers to; its column `id` is named like the record
    std::string_view id;    // the view's name of the field `id`
};
inline constexpr RecordTable measurement_table{"measurement", "measurements", "measurement"};
inline constexpr RecordTable trial_table{"trial", "trials", "trial"};
inline constexpr RecordTable race_table{"race", "races", "race"};
inline constexpr RecordTable race_entry_table{"race_entry", "race_entry", ""};

// "trials.trial, trials.created_at, ...": the columns of these fields, in the same order.
std::string columns_of(const RecordTable &table, const std::vector<std::string_view> &fields);

// "INSERT INTO trial (id, ...) VALUES (?1, ...)", with a parameter for each field, in the same order.
std::string insertion_into(const RecordTable &table, const std::vector<std::string_view> &fields);

// The names of fields that have a column, in order. A race's entries are rows of a table of their own.
class ColumnFields {
public:
    std::vector<std::string_view> names;

    template<typename T>
    void operator()(std::string_view name, const T &, Presence) {
        names.push_back(name);
    }
    void operator()(std::string_view, const std::vector<RaceEntry> &, Presence) {}
};

template<typename Stored>
std::vector<std::string_view> column_fields() {
    ColumnFields fields;
    const Stored record{};
    visit_fields(fields, record);
    return fields.names;
}

template<typename Stored>
std::string columns_of(const RecordTable &table) {
    return columns_of(table, column_fields<Stored>());
}

template<typename Stored>
int column_count() {
    return static_cast<int>(column_fields<Stored>().size());
}

// The parameters of insertion_into().
class ColumnValues {
public:
    std::vector<Cell> cells;

    template<typename T>
    void operator()(std::string_view, const T &value, Presence presence) {
        cells.push_back(presence == Presence::or_null && value == T() ? Cell() : cell(value));
    }
    void operator()(std::string_view, const std::vector<RaceEntry> &, Presence) {}

private:
    static Cell cell(const std::string &text) { return text; }
    static Cell cell(int64_t value) { return value; }
    static Cell cell(int value) { return int64_t{value}; }
    static Cell cell(double value) { return value; }
    static Cell cell(const std::vector<double> &values) { return sample_list_text(values); }
    template<typename T>
    static Cell cell(const std::optional<T> &value) {
        return value ? cell(*value) : Cell();
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    static Cell cell(Enumeration value) { return std::string(name(value)); }
};

// `on_conflict` is the end of the statement, "" or " ON CONFLICT ...".
template<typename Stored>
Status insert_row(const Connection &connection, const RecordTable &table, const Stored &record,
                  std::string_view on_conflict = "") {
    ColumnValues values;
    visit_fields(values, record);
    return connection.run(insertion_into(table, column_fields<Stored>()) + std::string(on_conflict), values.cells);
}

// For messages: a value from outside may be of any length.
std::string shortened(std::string text);

class RowReader {
public:
    RowReader(const Statement &row, int first_column) : row_(row), column_(first_column) {}

    template<typename T>
    void operator()(std::string_view name, T &value, Presence presence) {
        if (presence == Presence::or_null && row_.is_null(column_)) {
            value = T();
        } else if (!read(value) && problem_.empty()) {
            problem_ = fmt::format("{}: `{}` is none that kiln writes", name, shortened(row_.text(column_)));
        }
        ++column_;
    }
    void operator()(std::string_view, std::vector<RaceEntry> &, Presence) {}

    const std::string &problem() const { return problem_; }  // of the first field that cannot be read

private:
    using Kind = Statement::Kind;
    bool is(Kind kind) const { return row_.kind(column_) == kind; }

    // SQLite would convert a value of another type, and a number that is too large.
    bool read(std::string &value) {
        if (!is(Kind::text)) return false;
        value = row_.text(column_);
        return true;
    }
    bool read(int64_t &value) {
        value = row_.integer(column_);
        return is(Kind::integer);
    }
    bool read(int &value) {
        value = static_cast<int>(row_.integer(column_));
        return is(Kind::integer) && value == row_.integer(column_);
    }
    bool read(double &value) {
        value = row_.real(column_);
        return is(Kind::real) || is(Kind::integer);
    }
    bool read(std::vector<double> &value) {
        auto list = parse_sample_list(row_.text(column_));
        if (list) value = std::move(*list);
        return list.has_value();
    }
    template<typename T>
    bool read(std::optional<T> &value) {
        return read(value.emplace());
    }
    template<typename Enumeration>
    requires std::is_enum_v<Enumeration>
    bool read(Enumeration &value) { return parse_name(row_.text(column_), value); }

    const Statement &row_;
    int column_;
    std::string problem_;
};

// The record in the current row of a query of columns_of(), which begin at `first_column`. The error names the record
// by its first field.
template<typename Stored>
Result<Stored> read_row(const Statement &row, int first_column = 0) {
    Stored record{};
    RowReader reader(row, first_column);
    visit_fields(reader, record);
    if (reader.problem().empty()) return record;
    return bad_input(fmt::format("the row of {}: {}", shortened(row.text(first_column)), reader.problem()));
}

}  // namespace kiln
