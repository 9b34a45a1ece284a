// Tables for people, laid out for a number of columns. Pure: texts in, text out.
//
// A table is what a query answers (database/table.h). Its form says what a reader wants first: which columns, in which
// order, with how many digits. What is the same in all rows of a context column (target, machine, ...) is said once
// above. Where the rest does not fit, long texts are shortened in the middle; where even that is not enough, columns
// are left out from the right. Numbers are never shortened.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "database/table.h"

namespace kiln {

struct ColumnForm {
    std::string name;   // of the Table's column, and what `--columns` calls it
    std::string title;  // above the column: what it is, with its unit; empty: the name
    int digits = -1;    // after the point; -1: six significant ones
    double scale = 1;   // 100 for a share that is shown in percent
    bool context = false;
    bool whole = false;  // a text that says nothing when shortened
    size_t prefix = 0;   // of an id: so many characters, which commands take for the whole
};

// Columns that are shown where nobody says which. Empty: all, in the table's order.
using TableForm = std::vector<ColumnForm>;

struct TableView {
    int width = 100;                   // of the terminal
    bool wide = false;                 // all columns, whole texts, however wide
    std::vector<std::string> columns;  // only these, in this order; each is one of the table's
};

struct RenderedTable {
    std::string text;
    std::vector<std::string> hidden;  // columns left out because they did not fit
};
RenderedTable render(const Table &table, const TableForm &form, const TableView &view);

}  // namespace kiln
