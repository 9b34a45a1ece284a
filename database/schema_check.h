// Whether the schema of a file is kiln's. A table, index, view or trigger of somebody else's may run at any statement:
// a trigger that deletes, a view in place of a table that never ends. So every opening compares the schema with that of
// a new file, before it runs anything else on it.
#pragma once

#include <vector>

#include "database/schema.h"
#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

// The error names the first part that is not kiln's, was changed or is missing. Only the version that the file has is
// compared, so an older file passes as that version made it.
Status check_schema(const Connection &connection, const std::vector<MigrationStep> &steps);

}  // namespace kiln
