// The schema and how a file gets it: steps, one a version, applied in order inside one transaction. `user_version` in
// the file's header says which steps it has, `application_id` that it is kiln's. A file that is not is never written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "database/sqlite.h"
#include "workload/result.h"

namespace kiln {

constexpr int64_t application_id = 0x6b696c6e;  // "kiln" in ASCII; frozen

// Files from this version on can be read without a migration. Later steps add tables and views, or make indexes and views of
// the same columns anew; who reads what a step added asks first whether the file has it.
constexpr int64_t oldest_readable_version = 1;

struct MigrationStep {
    int64_t version;  // user_version once the step is done
    std::string_view sql;
};

// Adding a version is adding an entry. Steps that were released never change.
const std::vector<MigrationStep> &migration_steps();

// A file's kind, by its header alone.
enum class DatabaseKind { empty, ours };

// Anything but an empty file or a database of kiln's own, up to the version that `steps` ends with, is an error.
Result<DatabaseKind> inspect(const Connection &connection, const std::vector<MigrationStep> &steps);

Result<int64_t> schema_version(const Connection &connection);

// Brings an empty file or an older version to the newest; all or nothing. Does not write when there is nothing to do.
Status migrate(const Connection &connection, const std::vector<MigrationStep> &steps);

}  // namespace kiln
