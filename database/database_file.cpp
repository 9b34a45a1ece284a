#include "database/database_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "database/files/file_system.h"
#include "database/files/recovered_copy.h"
#include "database/files/side_files.h"
#include "database/schema.h"
#include "database/schema_check.h"

namespace kiln {
namespace {

// Refuses paths that cannot be a database, before SQLite opens them.
Status check_path(const std::string &path, OpenMode mode) {
    namespace fs = std::filesystem;
    if (path.empty()) return bad_input("the database needs a file name");
    if (path == ":memory:") return bad_input(":memory: is no file, and nothing in it would be kept; name a file");
    std::error_code problem;
    const fs::file_status status = fs::status(path, problem);
    if (fs::is_directory(status)) return bad_input(path + ": a folder; name a file in it");
    if (fs::exists(status)) {
        return fs::is_regular_file(status) ? Status() : bad_input(path + ": not a regular file; name another");
    }
    if (status.type() != fs::file_type::not_found) return environment_error(path + ": " + problem.message());
    if (mode != OpenMode::create) {
        return bad_input(path + ": no such file; check the name, or make one with `kiln tune --db`");
    }
    const fs::path folder = fs::path(path).parent_path();
    if (!folder.empty() && !fs::is_directory(folder, problem)) {
        return bad_input(fmt::format("{}: the folder {} does not exist; create it first", path, folder.string()));
    }
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) {
        return environment_error(fmt::format("{}: no file can be made in its folder ({}); choose another folder", path,
                                             std::strerror(errno)));
    }
    return {};
}

// TRUNCATE with FULL: an acknowledged commit survives a crash of the process and of the system. docs/database.md says
// why not WAL, and why not DELETE.
Status make_durable(const Connection &connection) {
    const Result<Cell> mode = connection.query_value("PRAGMA journal_mode = TRUNCATE");
    if (!mode) return mode.error();
    if (*mode != Cell("truncate") && *mode != Cell("memory")) {
        return environment_error(connection.path() +
                                 ": another program holds it in another journal mode; close that "
                                 "program and run again");
    }
    return connection.run("PRAGMA synchronous = FULL");
}

// SQLite would read the missing part of a last page as zeros.
Status check_whole_pages(const Connection &connection) {
    // The version is read under SQLite's lock. SQLite rolls a killed writer's transaction back before that.
    if (const Result<int64_t> version = schema_version(connection); !version) return version.error();
    const Result<Cell> page_size = connection.query_value("PRAGMA page_size");
    if (!page_size) return page_size.error();
    const Result<int64_t> bytes = connection.file_size();
    if (!bytes) return bytes.error();
    if (*bytes % std::get<int64_t>(*page_size) == 0) return {};
    return bad_input(fmt::format("{}: a database cut off after {} bytes; restore a copy", connection.path(), *bytes));
}

// Offset 18 of the file's header: the version needed to write it, 2 with a write-ahead log; 19 the same for reading.
// SQLite uses a log also where the header knows of none.
Result<bool> is_in_wal_mode(const Connection &connection) {
    const Result<std::string> header = connection.read_file(0, 20);
    if (!header) return header.error();
    if (header->size() == 20 && ((*header)[18] == 2 || (*header)[19] == 2)) return true;
    const std::string log = path_of(SideFile::write_ahead_log, connection.file());
    std::error_code not_there;
    const auto bytes = std::filesystem::file_size(log, not_there);
    if (not_there || bytes == 0) return false;
    return bad_input(
        fmt::format("{}: a write-ahead log, but {} is a database without one; move it away", log, connection.path()));
}

std::optional<std::string> network_note(const std::string &path) {
    const FileSystem file_system = file_system_of(path);
    if (file_system.reach == FileSystem::Reach::local) return std::nullopt;
    return fmt::format(
        "{}: lies on {} file system ({}), where locks between machines cannot be relied on; use it from one machine "
        "only, or a file on a local disk and `kiln db merge`",
        path, file_system.reach == FileSystem::Reach::network ? "a network" : "what may be a network",
        file_system.name);
}

// Everything up to the check of the schema reads only, but that SQLite rolls back what a killed writer left half-done.
Status check_whole_content(const Connection &connection, OpenMode mode) {
    const Result<DatabaseKind> kind = inspect(connection, migration_steps());
    if (!kind) return kind.error();
    if (*kind == DatabaseKind::ours) {
        if (Status status = check_whole_pages(connection); !status) return status;
        return check_schema(connection, migration_steps());
    }
    if (mode == OpenMode::create) return {};
    return bad_input(connection.path() + ": empty, no database yet; check the name, or fill it with `kiln tune --db`");
}

// 64 MiB, where SQLite keeps 2: a report of all trials meets the pages of their workloads and measurements again and again.
Status keep_pages(const Connection &connection) { return connection.run("PRAGMA cache_size = -65536"); }

Status make_ready(const Connection &connection, OpenMode mode) {
    if (Status status = keep_pages(connection); !status) return status;
    if (mode != OpenMode::read_only) {
        if (Status status = make_durable(connection); !status) return status;
        if (Status status = migrate(connection, migration_steps()); !status) return status;
        return connection.run("PRAGMA foreign_keys = ON");
    }
    const Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    const int64_t newest = migration_steps().back().version;
    if (*version >= oldest_readable_version && *version <= newest) return connection.run("PRAGMA query_only = ON");
    return bad_input(
        fmt::format("{}: schema version {}, this kiln reads {}; open it once for writing with `kiln tune --db`, "
                    "which brings it up to date",
                    connection.path(), *version, newest));
}

// A connection that can read, and whether the file has a write-ahead log.
struct Opened {
    Connection connection;
    bool wal;
};
Result<Opened> open_file(const std::string &path, OpenMode mode) {
    Result<Connection> connection = Connection::open(path, mode);
    if (!connection) return connection.error();
    // The header is looked at first: SQLite would roll back another program's database, too.
    if (Result<DatabaseKind> kind = inspect(*connection, migration_steps()); !kind) return kind.error();
    const Result<bool> wal = is_in_wal_mode(*connection);
    if (!wal) return wal.error();
    if (mode != OpenMode::read_only) return Opened{std::move(*connection), *wal};
    Result<bool> needs_copy = *wal ? wal : connection->was_left_half_written();
    if (!needs_copy) return needs_copy.error();
    if (!*needs_copy) return Opened{std::move(*connection), *wal};
    // A copy takes locks below SQLite, so it is taken from a connection without a statement.
    Result<Connection> fresh = Connection::open(path, mode);
    if (!fresh) return fresh.error();
    Result<Connection> copy = recovered_copy(*fresh);
    if (!copy) return copy.error();
    return Opened{std::move(*copy), *wal};
}

}  // namespace

Result<OpenedDatabase> open_database(const std::string &path, OpenMode mode) {
    if (Status status = check_path(path, mode); !status) return status.error();
    Result<Opened> file = open_file(path, mode);
    if (!file) return file.error();
    if (Status status = check_whole_content(file->connection, mode); !status) return status.error();
    if (Status status = make_ready(file->connection, mode); !status) return status.error();
    OpenedDatabase opened{std::move(file->connection), {}};
    if (file->wal) {
        opened.notes.push_back(fmt::format(
            "{}: {} in WAL mode, in which SQLite up to 3.51.2 can damage a file that several processes write; {}", path,
            mode == OpenMode::read_only ? "is" : "was",
            mode == OpenMode::read_only ? "the next kiln command that writes changes it to a rollback journal"
                                        : "changed to a rollback journal"));
    }
    if (auto note = network_note(path)) opened.notes.push_back(std::move(*note));
    return opened;
}

Result<Connection> open_in_memory() {
    Result<Connection> connection = Connection::open(":memory:", OpenMode::create);
    if (!connection) return connection;
    if (Status status = make_ready(*connection, OpenMode::create); !status) return status.error();
    return connection;
}

Result<Transaction> begin_writing(const Connection &connection) {
    Result<Transaction> transaction = Transaction::begin(connection);
    if (!transaction) return transaction;
    const Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    if (*version != migration_steps().back().version) {
        return bad_input(
            fmt::format("{}: a newer kiln migrated it to schema version {} while this one had it open; run "
                        "the newer one",
                        connection.path(), *version));
    }
    return transaction;
}

}  // namespace kiln
