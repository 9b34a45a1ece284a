// Tables for programs: JSON, a list of objects, and CSV. All columns and whole texts, whatever a terminal could show.
#pragma once

#include <string>

#include "database/table.h"

namespace kiln {

std::string json_text(const Table &table);

// A spreadsheet computes a text that begins with = + - @ in ASCII or in full width, or with a tab or a newline before one of
// them, whoever wrote it. Guarded texts have a ' before that, which spreadsheets take away. Numbers stay numbers.
enum class Formulas { exact, guarded };
std::string csv_text(const Table &table, Formulas formulas = Formulas::exact);

}  // namespace kiln
