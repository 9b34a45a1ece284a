// Tables for programs: JSON, a list of objects, and CSV. All columns and whole texts, whatever a terminal could show.
#pragma once

#include <string>

#include "database/table.h"

namespace kiln {

std::string json_text(const Table &table);
std::string csv_text(const Table &table);

}  // namespace kiln
