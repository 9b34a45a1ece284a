// Opening a file as a database of kiln's. A file that is none is refused before anything is written to it. Commits are
// made durable, and the schema is brought up to date. docs/database.md gives the reasons.
#pragma once

#include <string>
#include <vector>

#include "database/open_mode.h"
#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

struct OpenedDatabase {
    Connection connection;
    std::vector<std::string> notes;  // messages for the user about the file's mode and place
};

Result<OpenedDatabase> open_database(const std::string &path, OpenMode mode);

// An empty database of kiln's that is gone with its connection.
Result<Connection> open_in_memory();

// A transaction that may write. It is an error where another process has migrated the file since it was opened.
Result<Transaction> begin_writing(const Connection &connection);

}  // namespace kiln
