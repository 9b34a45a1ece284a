#include "database/database_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "database/file_system.h"
#include "database/schema.h"

namespace kiln {
namespace {

// Refuses paths that cannot be a database, before SQLite opens them.
Status check_path(const std::string &path, OpenMode mode) {
    namespace fs = std::filesystem;
    if (path.empty()) return bad_input("the database needs a file name");
    if (path == ":memory:") {
        return mode == OpenMode::create ? Status() : bad_input(":memory: is always new; name a file to open");
    }
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
    if (connection.path() == ":memory:") return {};
    const Result<Cell> page_size = connection.query_value("PRAGMA page_size");
    if (!page_size) return page_size.error();
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(connection.path(), problem);
    if (problem) return environment_error(connection.path() + ": " + problem.message());
    if (bytes % static_cast<uintmax_t>(std::get<int64_t>(*page_size)) == 0) return {};
    return bad_input(fmt::format("{}: a database cut off after {} bytes; restore a copy", connection.path(), bytes));
}

// Offset 18 of the file's header: the version needed to write it, 2 with a write-ahead log.
Result<bool> is_in_wal_mode(const Connection &connection) {
    const Result<std::string> header = connection.file_header();
    if (!header) return header.error();
    return header->size() > 18 && (*header)[18] == 2;
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

Status prepare_schema(const Connection &connection, OpenMode mode) {
    const std::string &path = connection.path();
    const Result<FileKind> kind = inspect(connection, migration_steps());
    if (!kind) return kind.error();
    if (*kind == FileKind::empty && mode != OpenMode::create) {
        return bad_input(path + ": empty, no database yet; check the name, or fill it with `kiln tune --db`");
    }
    // This is the first read under SQLite's lock. SQLite rolls a killed writer's transaction back before it.
    const Result<int64_t> version = schema_version(connection);
    if (!version) return version.error();
    if (Status status = check_whole_pages(connection); !status) return status;
    if (mode != OpenMode::read_only) {
        if (Status status = make_durable(connection); !status) return status;
        if (Status status = migrate(connection, migration_steps()); !status) return status;
        return connection.run("PRAGMA foreign_keys = ON");
    }
    const int64_t newest = migration_steps().back().version;
    if (*version == newest) return {};
    return bad_input(
        fmt::format("{}: schema version {}, this kiln reads {}; open it once for writing with `kiln tune --db`, "
                    "which brings it up to date",
                    path, *version, newest));
}

}  // namespace

Result<OpenedDatabase> open_database(const std::string &path, OpenMode mode) {
    if (Status status = check_path(path, mode); !status) return status.error();
    Result<Connection> connection = Connection::open(path, mode);
    if (!connection) return connection.error();
    const Result<bool> wal = is_in_wal_mode(*connection);
    if (!wal) return wal.error();
    if (Status status = prepare_schema(*connection, mode); !status) return status.error();
    OpenedDatabase opened{std::move(*connection), {}};
    if (*wal) {
        opened.notes.push_back(fmt::format(
            "{}: {} in WAL mode, in which SQLite up to 3.51.2 can damage a file that several processes write; {}", path,
            mode == OpenMode::read_only ? "is" : "was",
            mode == OpenMode::read_only ? "the next kiln command that writes changes it to a rollback journal"
                                        : "changed to a rollback journal"));
    }
    if (auto note = network_note(path)) opened.notes.push_back(std::move(*note));
    return opened;
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
