// Whether a database is what was written: SQLite's own check, references, the schema, and every record's content
// against its id, which finds flipped bytes that leave the file's structure whole.
#pragma once

#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

// The error names the first few things that are wrong and how many there are.
Status verify(const Connection &connection);

}  // namespace kiln
