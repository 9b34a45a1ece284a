// A database that its files do not tell as they are: a killed writer left a transaction that must be rolled back, or a
// write-ahead log must be read. SQLite would write, create and delete files beside it for that. A command that only
// reads lets SQLite do so on a copy, in a folder of its own below the temporary folder.
#pragma once

#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

// A connection to such a copy of the file of `original`, whose messages name the original. The copy's files have no
// names any more, so nothing stays behind.
Result<Connection> recovered_copy(const Connection &original);

}  // namespace kiln
