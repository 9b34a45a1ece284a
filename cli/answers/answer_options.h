// The options that all commands share which answer with rows.
#pragma once

#include <vector>

#include "cli/answers/answer.h"

namespace CLI {
class App;
}

namespace kiln {

// --format
void add_format_option(CLI::App &command, TableFormat &format, std::vector<TableFormat> allowed);

// --wide, --columns, --sort, --top; --guard-formulas where there is CSV
void add_table_options(CLI::App &command, AnswerOptions &options, bool has_csv);

// The same and --format.
void add_options(CLI::App &command, AnswerOptions &options, std::vector<TableFormat> allowed);

}  // namespace kiln
