#include "cli/answers/answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/answers/formats.h"
#include "cli/answers/output.h"
#include "cli/answers/terminal_text.h"

namespace kiln {
namespace {

// `1234567` as people read it: 1,234,567.
std::string grouped(int64_t number) {
    std::string text = std::to_string(number);
    for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
    return text;
}

size_t column_index(const Table &table, const std::string &name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    return static_cast<size_t>(found - table.columns.begin());
}

// NULL, then text, then numbers, from the last rank to the first.
int rank(const Cell &cell) {
    if (std::holds_alternative<std::monostate>(cell)) return 2;
    return std::holds_alternative<std::string>(cell) ? 1 : 0;
}

double number(const Cell &cell) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) return static_cast<double>(*integer);
    return std::get<double>(cell);
}

bool comes_before(const Cell &a, const Cell &b, bool descending) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    if (rank(a) == 2) return false;
    const Cell &low = descending ? b : a, &high = descending ? a : b;
    if (rank(a) == 1) return std::get<std::string>(low) < std::get<std::string>(high);
    return number(low) < number(high);
}

Table only(const Table &table, const std::vector<std::string> &columns) {
    Table result{.columns = columns, .rows = {}};
    for (const auto &row : table.rows) {
        auto &cells = result.rows.emplace_back();
        for (const std::string &column : columns) cells.push_back(row[column_index(table, column)]);
    }
    return result;
}

}  // namespace

SortOrder sort_order(const AnswerOptions &options) {
    const bool descending = options.sort.starts_with('-');
    return {options.sort.substr(descending ? 1 : 0), descending};
}

Status check_columns(const AnswerOptions &options, const std::vector<std::string> &columns) {
    const auto check = [&](const char *option, const std::string &column) -> Status {
        if (std::find(columns.begin(), columns.end(), column) != columns.end()) return {};
        return Error{ErrorCode::usage,
                     fmt::format("{}: unknown column `{}`; there are {}", option, column, fmt::join(columns, ", "))};
    };
    for (const std::string &column : options.columns) {
        if (Status s = check("--columns", column); !s) return s;
    }
    return options.sort.empty() ? Status() : check("--sort", sort_order(options).column);
}

void sort_rows(Table *table, const SortOrder &order) {
    if (order.column.empty()) return;
    const size_t column = column_index(*table, order.column);
    std::stable_sort(table->rows.begin(), table->rows.end(), [&](const auto &a, const auto &b) {
        return comes_before(a[column], b[column], order.descending);
    });
}

std::string rows_note(int64_t shown, int64_t all) {
    return fmt::format(
        "the first {} of {} rows; --top N shows so many, --filter and --sort choose, --format csv has all",
        grouped(shown), grouped(all));
}

std::string columns_note(const std::vector<std::string> &hidden) {
    return fmt::format("no room for the column{} {}; --wide shows all, --columns chooses",
                       hidden.size() == 1 ? "" : "s", fmt::join(hidden, ", "));
}

std::vector<std::string> print_rows(const Table &table, int64_t all_rows, const TableForm &form,
                                    const AnswerOptions &options) {
    if (options.format != TableFormat::table) {
        const Table chosen = options.columns.empty() ? table : only(table, options.columns);
        if (options.format == TableFormat::json) {
            print_document(json_text(chosen));
        } else {
            print_exact(csv_text(chosen, options.guard_formulas ? Formulas::guarded : Formulas::exact));
        }
        return {};
    }
    RenderedTable rendered =
        render(table, form, {.width = answer_width(STDOUT_FILENO), .wide = options.wide, .columns = options.columns});
    write_text(stdout, rendered.text);
    if (!rendered.hidden.empty()) tell(columns_note(rendered.hidden));
    const auto shown = static_cast<int64_t>(table.rows.size());
    if (!options.top && shown < all_rows) tell(rows_note(shown, all_rows));
    return std::move(rendered.hidden);
}

bool is_shown(const std::string &column, const AnswerOptions &options, const std::vector<std::string> &hidden) {
    if (!options.columns.empty()) return std::ranges::count(options.columns, column) > 0;
    return std::ranges::count(hidden, column) == 0;
}

void print_head(const std::string &line, const AnswerOptions &options) {
    print_line(options.wide ? line : shortened(line, answer_width(STDOUT_FILENO)));
}

std::vector<std::string> print(Table table, const TableForm &form, const AnswerOptions &options) {
    const auto all = static_cast<int64_t>(table.rows.size());
    sort_rows(&table, sort_order(options));
    const int64_t most = options.top.value_or(options.format == TableFormat::table ? most_rows_of_a_table : all);
    if (most < all) table.rows.resize(static_cast<size_t>(most));
    return print_rows(table, all, form, options);
}

void print(const Table &table, TableFormat format) {
    print(table, {}, AnswerOptions{.format = format, .columns = {}, .sort = {}});
}

}  // namespace kiln
