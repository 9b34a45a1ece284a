// Checks all of a database: its structure by SQLite's own check, its references, the schema, and every record's content
// against its id. The ids show flipped bytes that leave the file's structure whole.
#pragma once

#include <functional>

#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

// The error names the first few things that are wrong and how many there are. `record_read`, if there is one, is called with each record.
Status verify(const Connection &connection, const std::function<void()> &record_read);

}  // namespace kiln
