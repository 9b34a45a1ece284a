// Opens a file as a database of kiln's: refuses what is not one before anything is written to it, makes commits
// durable, brings the schema up to date. docs/database.md gives the reasons.
#pragma once

#include <string>
#include <vector>

#include "database/open_mode.h"
#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

struct OpenedDatabase {
    Connection connection;
    std::vector<std::string> notes;  // what a user should know of how and where the file lies; messages
};

Result<OpenedDatabase> open_database(const std::string &path, OpenMode mode);

// A transaction that may write, on the schema that this kiln knows even if another process has migrated since.
Result<Transaction> begin_writing(const Connection &connection);

}  // namespace kiln
