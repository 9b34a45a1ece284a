#include "database/schema.h"

#include <fmt/format.h>

#include <cassert>

namespace kiln {

extern const char *const schema_version_1;
extern const char *const schema_version_2;
extern const char *const schema_version_3;
extern const char *const schema_version_4;

namespace {

// Big-endian field of SQLite's file header (https://sqlite.org/fileformat2.html, section 1.3).
uint32_t header_field(std::string_view header, size_t offset) {
    uint32_t value = 0;
    for (size_t i = offset; i < offset + 4; ++i) value = value << 8 | static_cast<unsigned char>(header[i]);
    return value;
}
constexpr size_t header_bytes = 100;
constexpr size_t user_version_offset = 60;
constexpr size_t application_id_offset = 68;
constexpr std::string_view magic("SQLite format 3\0", 16);

Error newer(const std::string &path, int64_t version, int64_t newest) {
    return bad_input(
        fmt::format("{}: written by a newer kiln (schema version {}, this one knows up to {}); update kiln or "
                    "use another file",
                    path, version, newest));
}

Status apply(const Connection &connection, const MigrationStep &step) {
    if (Status status = connection.run_script(std::string(step.sql)); !status) return status;
    return connection.run(fmt::format("PRAGMA user_version = {}", step.version));
}

}  // namespace

const std::vector<MigrationStep> &migration_steps() {
    static const std::vector<MigrationStep> steps = {
        {1, schema_version_1},
        {2, schema_version_2},
        {3, schema_version_3},
        {4, schema_version_4},
    };
    return steps;
}

Result<DatabaseKind> inspect(const Connection &connection, const std::vector<MigrationStep> &steps) {
    Result<std::string> header = connection.read_file(0, header_bytes);
    if (!header) return header.error();
    if (header->empty()) return DatabaseKind::empty;
    const std::string &path = connection.path();
    if (!header->starts_with(magic.substr(0, header->size()))) {
        return bad_input(fmt::format("{}: not an SQLite database; name another file, it was left as it is", path));
    }
    if (header->size() < header_bytes) {
        return bad_input(fmt::format(
            "{}: a database cut off after {} bytes; restore a copy, or delete it to start anew", path, header->size()));
    }
    if (header_field(*header, application_id_offset) != application_id) {
        return bad_input(
            fmt::format("{}: an SQLite database, but not kiln's (application_id {:#x}, not {:#x}); name another "
                        "file, it was left as it is",
                        path, header_field(*header, application_id_offset), application_id));
    }
    const int64_t version = header_field(*header, user_version_offset);
    if (version > steps.back().version) return newer(path, version, steps.back().version);
    return DatabaseKind::ours;
}

Result<int64_t> schema_version(const Connection &connection) {
    Result<Cell> version = connection.query_value("PRAGMA user_version");
    if (!version) return version.error();
    return std::get<int64_t>(*version);
}

Status migrate(const Connection &connection, const std::vector<MigrationStep> &steps) {
    assert(!steps.empty());
    const int64_t newest = steps.back().version;
    Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    if (*version == newest) return {};

    // A step may rebuild a table that others refer to, which needs this off, and off it can only be set outside of the
    // transaction; foreign_key_check at the end makes up for it.
    if (Status status = connection.run("PRAGMA foreign_keys = OFF"); !status) return status;
    Result<Transaction> transaction = Transaction::begin(connection);
    if (!transaction) return transaction.error();
    version = schema_version(connection);  // another process may have been first
    if (!version) return version.error();
    if (*version > newest) return newer(connection.path(), *version, newest);
    if (*version == newest) return {};
    for (const MigrationStep &step : steps) {
        if (step.version <= *version) continue;
        if (Status status = apply(connection, step); !status) {
            return Error{status.error().code, fmt::format("{}; migrating from schema version {} to {} failed, the file "
                                                          "was left at {}",
                                                          status.error().message, *version, step.version, *version)};
        }
    }
    if (Status status = connection.run(fmt::format("PRAGMA application_id = {}", application_id)); !status)
        return status;
    Result<Table> dangling = connection.query("PRAGMA foreign_key_check");
    if (!dangling) return dangling.error();
    if (!dangling->rows.empty()) {
        return bad_input(
            fmt::format("{}: {} rows refer to rows that are missing; the file was left at schema version {}",
                        connection.path(), dangling->rows.size(), *version));
    }
    return transaction->commit();
}

}  // namespace kiln
