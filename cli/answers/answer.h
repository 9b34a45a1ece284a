// How a command prints its rows. JSON and CSV have all columns unless `--columns` chooses; a table has what its form shows
// first, within the terminal's width.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/table.h"
#include "workload/result.h"

namespace kiln {

enum class TableFormat { table, json, csv };

struct AnswerOptions {
    TableFormat format = TableFormat::table;
    bool wide = false;
    std::vector<std::string> columns;
    std::string sort;  // a column, "-" before it: the largest first
    std::optional<int64_t> top;
    bool guard_formulas = false;  // in CSV
};

// A table of more rows than this shows the first of them and says so; --top asks for another number.
inline constexpr int64_t most_rows_of_a_table = 1000;

// Errors (usage): `--columns` or `--sort` name what is no column; the message lists those that there are.
Status check_columns(const AnswerOptions &options, const std::vector<std::string> &columns);

struct SortOrder {
    std::string column;  // empty: the rows' own order
    bool descending = false;
};
SortOrder sort_order(const AnswerOptions &options);

// Rows without a value come last, numbers before texts.
void sort_rows(Table *table, const SortOrder &order);

// What a table left out, for people: rows, columns.
std::string rows_note(int64_t shown, int64_t all);
std::string columns_note(const std::vector<std::string> &hidden);

// Prints rows that are sorted and cut already; `all_rows` is how many there were before. Notes go to stderr. Answers the
// columns that a table had no room for.
std::vector<std::string> print_rows(const Table &table, int64_t all_rows, const TableForm &form,
                                    const AnswerOptions &options);

// Sorts, cuts and prints, as print_rows(). Precondition: check_columns().
std::vector<std::string> print(Table table, const TableForm &form, const AnswerOptions &options);

// Whether a table shows the column, `hidden` being what print() answered.
bool is_shown(const std::string &column, const AnswerOptions &options, const std::vector<std::string> &hidden);

// What stands above a table, in one line: shortened to the terminal's width without `--wide`.
void print_head(const std::string &line, const AnswerOptions &options);

// A small table as it is: facts, counts.
void print(const Table &table, TableFormat format);

}  // namespace kiln
