#include "cli/answers/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "cli/answers/terminal_text.h"
#include "text/quoted_text.h"

namespace kiln {
namespace {

// A text that is shortened further says little: columns with less room go, unless somebody asked for them.
constexpr int gap = 2, narrowest_text = 16, narrowest_asked_for = 8;

// A column as it will be printed.
struct Column {
    ColumnForm form;
    size_t source = 0;  // index in the table
    std::vector<std::string> cells;
    bool is_number = true;
    int width = 0, least = 0;
};

bool is_null(const Cell &cell) { return std::holds_alternative<std::monostate>(cell); }

bool is_number(const Cell &cell) {
    const auto *text = std::get_if<std::string>(&cell);
    if (!text) return true;  // NULL too: it does not decide
    double value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() && end == text->data() + text->size();
}

std::string number_text(double value, const ColumnForm &form) {
    if (form.digits < 0) return fmt::format("{:.6g}", value * form.scale);
    return fmt::format("{:.{}f}", value * form.scale, form.digits);
}

// The text on one line. A text of any length costs no more than what may be seen of it, its beginning and its end.
std::string shown(std::string_view text, const ColumnForm &form, const TableView &view) {
    if (view.wide) return quoted_line(text);
    if (form.prefix > 0) return quoted_line(text.substr(0, form.prefix));
    const size_t most = bytes_of_columns(view.width);
    if (text.size() <= 2 * most) return quoted_line(text);
    return quoted_line(text.substr(0, most)) + "…" + quoted_line(text.substr(text.size() - most));
}

std::string cell_text(const Cell &cell, const ColumnForm &form, const TableView &view) {
    if (const auto *integer = std::get_if<int64_t>(&cell)) {
        return form.scale == 1 ? std::to_string(*integer) : number_text(static_cast<double>(*integer), form);
    }
    if (const auto *real = std::get_if<double>(&cell)) return number_text(*real, form);
    if (const auto *text = std::get_if<std::string>(&cell)) return shown(*text, form, view);
    return "";
}

std::string title(const ColumnForm &form) { return quoted_line(form.title.empty() ? form.name : form.title); }

size_t index_of(const Table &table, const std::string &name) {
    const auto found = std::find(table.columns.begin(), table.columns.end(), name);
    return static_cast<size_t>(found - table.columns.begin());
}

ColumnForm form_of(const std::string &name, const TableForm &form) {
    const auto known = std::find_if(form.begin(), form.end(), [&](const ColumnForm &c) { return c.name == name; });
    return known != form.end() ? *known : ColumnForm{.name = name};
}

// Which columns, in which order.
std::vector<Column> chosen(const Table &table, const TableForm &form, const TableView &view) {
    std::vector<Column> columns;
    const auto add = [&](size_t source, ColumnForm column) {
        if (source < table.columns.size())
            columns.push_back({.form = std::move(column), .source = source, .cells = {}});
    };
    if (!view.columns.empty()) {
        for (const std::string &name : view.columns) add(index_of(table, name), form_of(name, form));
    } else if (view.wide || form.empty()) {
        for (size_t i = 0; i < table.columns.size(); i++) add(i, form_of(table.columns[i], form));
    } else {
        for (const ColumnForm &column : form) add(index_of(table, column.name), column);
        return columns;
    }
    for (Column &column : columns) column.form.context = false;  // asked for: a column like any other
    return columns;
}

// The text that all rows have in this column; nothing where they differ. Rows that have none do not decide.
std::optional<std::string> shared_text(const Table &table, const TableView &view, const Column &column) {
    const Cell *shared = nullptr;
    for (const auto &row : table.rows) {
        if (is_null(row[column.source])) continue;
        const Cell &cell = row[column.source];
        if (shared && cell != *shared) return std::nullopt;
        shared = &cell;
    }
    return shared ? cell_text(*shared, column.form, view) : std::string();
}

// Takes context columns that say the same in all rows out of the table, and says it in lines above.
std::string take_context(const Table &table, const TableView &view, std::vector<Column> *columns) {
    std::string lines, line;
    std::erase_if(*columns, [&](const Column &column) {
        if (!column.form.context) return false;
        const std::optional<std::string> shared = shared_text(table, view, column);
        if (!shared) return false;
        if (shared->empty()) return true;
        const std::string part = shortened(title(column.form) + " " + *shared, view.width);
        if (!line.empty() && display_width(line) + gap + display_width(part) > view.width) {
            lines += line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : ", ") + part;
        return true;
    });
    if (!line.empty()) lines += line + "\n";
    return lines.empty() ? "" : lines + "\n";
}

void fill(const Table &table, const TableView &view, Column *column) {
    column->width = column->least = display_width(title(column->form));
    for (const auto &row : table.rows) {
        const Cell &cell = row[column->source];
        std::string text = cell_text(cell, column->form, view);
        column->width = std::max(column->width, display_width(text));
        column->is_number = column->is_number && is_number(cell);
        column->cells.push_back(std::move(text));
    }
    const bool is_whole = column->is_number || column->form.whole || column->form.prefix > 0;
    if (!view.wide && !is_whole) column->width = std::min(column->width, std::max(view.width, column->least));
    const int narrowest = view.columns.empty() ? narrowest_text : narrowest_asked_for;
    column->least = is_whole ? column->width : std::max(column->least, std::min(column->width, narrowest));
}

int total(const std::vector<Column> &columns, int Column::*width) {
    int sum = columns.empty() ? 0 : -gap;
    for (const Column &column : columns) sum += column.*width + gap;
    return sum;
}

// Texts that no row has, such as messages where nothing failed.
bool says_nothing(const Table &table, const Column &column) {
    return !table.rows.empty() && std::all_of(table.rows.begin(), table.rows.end(), [&](const auto &row) {
        const auto *text = std::get_if<std::string>(&row[column.source]);
        return text && text->empty();
    });
}

// The widest gives first, so that short texts stay whole.
void shrink(std::vector<Column> *columns, int width) {
    for (int excess = total(*columns, &Column::width) - width; excess > 0; excess--) {
        Column *widest = nullptr;
        for (Column &column : *columns) {
            if (column.width > column.least && (!widest || column.width > widest->width)) widest = &column;
        }
        if (!widest) return;
        widest->width--;
    }
}

std::string line(const std::vector<Column> &columns, const auto &text_of) {
    std::string result;
    for (const Column &column : columns) {
        const std::string text = shortened(text_of(column), column.width);
        const std::string fill(static_cast<size_t>(column.width - display_width(text)), ' ');
        if (&column != &columns.front()) result.append(gap, ' ');
        result += column.is_number ? fill + text : text + fill;
    }
    result.erase(result.find_last_not_of(' ') + 1);
    return result + "\n";
}

}  // namespace

RenderedTable render(const Table &table, const TableForm &form, const TableView &view) {
    RenderedTable result;
    std::vector<Column> columns = chosen(table, form, view);
    result.text = take_context(table, view, &columns);
    if (!view.wide && view.columns.empty()) {
        std::erase_if(columns, [&](const Column &column) { return says_nothing(table, column); });
    }
    for (Column &column : columns) fill(table, view, &column);
    if (!view.wide) {
        const bool may_hide = view.columns.empty();
        while (may_hide && columns.size() > 1 && total(columns, &Column::least) > view.width) {
            result.hidden.insert(result.hidden.begin(), columns.back().form.name);
            columns.pop_back();
        }
        shrink(&columns, view.width);
    }
    result.text += line(columns, [](const Column &column) { return title(column.form); });
    for (size_t row = 0; row < table.rows.size(); row++) {
        result.text += line(columns, [row](const Column &column) { return column.cells[row]; });
    }
    return result;
}

}  // namespace kiln
