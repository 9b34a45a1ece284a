// Checks all of a database: its structure by SQLite's own check, its references, the schema, and every record's content
// against its id. The ids show flipped bytes that leave the file's structure whole.
#pragma once

#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

// The error names the first few things that are wrong and how many there are.
Status verify(const Connection &connection);

}  // namespace kiln
