#include "database/sqlite_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "database/files/guarded_files.h"
#include "database/files/side_files.h"

namespace kiln {
namespace {

using std::chrono::steady_clock;

LockWait &lock_wait_of_program() {
    static LockWait wait;
    return wait;
}

// A long query ends where the user stopped the work. A transaction that writes goes on: it is short, and what it
// records is finished.
constexpr int steps_between_looks = 1'000'000;
int look_for_interrupt(void *context) {
    const auto *database = static_cast<DatabaseHandle *>(context);
    const bool writes = sqlite3_txn_state(database->db, "main") == SQLITE_TXN_WRITE;
    return database->interrupted && !writes && database->interrupted();
}

// kiln's own texts and statements stay far below these; a file of somebody else's may not.
void set_limits(sqlite3 *db) {
    constexpr int largest_text = 64 << 20, longest_statement = 1 << 20, longest_pattern = 500;
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, largest_text);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, longest_statement);
    sqlite3_limit(db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, longest_pattern);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

// TRUSTED_SCHEMA stays on: SQLite 3.40 refuses the JSON functions in kiln's own schema without it. So schema_check.h looks
// at the schema instead, before any of it runs.
void distrust_file(sqlite3 *db) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);  // no writable_schema, no shadow tables
    sqlite3_exec(db, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
}

bool is_interrupted(const DatabaseHandle &database) {
    return (database.interrupted && database.interrupted()) ||
           (database.lock_wait.interrupted && database.lock_wait.interrupted());
}

Error by_kind(const DatabaseHandle &database, int code, const std::string &reason) {
    switch (code & 0xff) {
        case SQLITE_NOTADB:
        case SQLITE_CORRUPT:
            return bad_input(
                reason +
                "; the file is damaged: restore a copy, or save what is readable with `sqlite3 FILE .recover`");
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_TOOBIG:
            return bad_input(reason + "; nothing was stored");
        case SQLITE_ERROR:
            return bad_input(reason);
        case SQLITE_AUTH:
            return bad_input(reason + "; only a query that reads is allowed here, nothing was changed");
        case SQLITE_INTERRUPT:
            return {ErrorCode::interrupted, reason};
        case SQLITE_NOMEM:
            return environment_error(reason +
                                     "; not enough memory for what this file holds; ask for less: `kiln query --top "
                                     "N`, or `kiln query sql` with LIMIT");
        case SQLITE_FULL:
            return environment_error(reason + "; make room and run again, all that was recorded before is kept");
        case SQLITE_BUSY:
            if (is_interrupted(database))
                return {ErrorCode::interrupted, database.path + ": interrupted while another process used it"};
            [[fallthrough]];
        case SQLITE_LOCKED:
            return environment_error(
                fmt::format("{}; another process held the lock for more than {} s, end it and run again", reason,
                            std::chrono::duration<double>(database.patience).count()));
        case SQLITE_READONLY:
        case SQLITE_PERM:
            return environment_error(reason + "; make the file and its folder writable");
        case SQLITE_CANTOPEN:
            return environment_error(reason + "; check the permissions of the file and its folder");
        default:
            break;
    }
    const int system_error = database.db ? sqlite3_system_errno(database.db) : 0;
    const std::string system_reason = system_error ? fmt::format(" ({})", std::strerror(system_error)) : "";
    return environment_error(fmt::format("{}{}; SQLite error {}", reason, system_reason, code));
}

}  // namespace

void set_lock_wait(LockWait wait) { lock_wait_of_program() = std::move(wait); }

DatabaseHandle::~DatabaseHandle() {
    for (const auto &[text, statement] : kept) sqlite3_finalize(statement);
    sqlite3_close_v2(db);
}

sqlite3_stmt *take_kept(DatabaseHandle &database, std::string_view sql) {
    const auto found = database.kept.find(sql);
    return found == database.kept.end() ? nullptr : std::exchange(found->second, nullptr);
}

void keep(DatabaseHandle &database, sqlite3_stmt *statement) {
    constexpr size_t most_kept = 64;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    auto found = database.kept.find(std::string_view(sqlite3_sql(statement)));
    if (found == database.kept.end() && database.kept.size() < most_kept) {
        found = database.kept.emplace(sqlite3_sql(statement), nullptr).first;
    }
    if (found == database.kept.end() || found->second) {
        sqlite3_finalize(statement);
    } else {
        found->second = statement;
    }
}

// Pauses grow from 1 to 32 ms and are jittered by the clock, so that many writers do not wake up together again and
// again.
int wait_for_lock(void *context, int earlier_calls) {
    auto *database = static_cast<DatabaseHandle *>(context);
    const auto now = steady_clock::now();
    if (earlier_calls == 0) database->waiting_since = now, database->told = false;
    const auto waited = now - database->waiting_since;
    const LockWait &wait = database->lock_wait;
    if (waited >= database->patience || (waited >= wait.when_interrupted && is_interrupted(*database))) return 0;
    if (!database->told && waited >= wait.silent && wait.tell) {
        database->told = true;
        wait.tell(database->path);
    }
    const int64_t longest_us = 1000 << std::min(earlier_calls, 5);
    const int64_t jitter_us = now.time_since_epoch().count() / 1000 % longest_us;
    std::this_thread::sleep_for(std::chrono::microseconds(longest_us / 2 + jitter_us / 2));
    return 1;
}

std::string file_name(const DatabaseHandle &database) {
    const char *name = database.db ? sqlite3_db_filename(database.db, "main") : nullptr;
    return name ? name : "";
}

Error explain(const DatabaseHandle &database, int code) {
    if ((code & 0xff) == SQLITE_CANTOPEN) {
        const std::string file = file_name(database);
        if (auto problem = file.empty() ? std::nullopt : side_file_problem(file)) return bad_input(std::move(*problem));
    }
    if (code == SQLITE_READONLY_ROLLBACK) {
        return environment_error(database.path + ": a process that wrote it was killed just now; run again");
    }
    return by_kind(
        database, code,
        fmt::format("{}: {}", database.path, database.db ? sqlite3_errmsg(database.db) : sqlite3_errstr(code)));
}

Status open_handle(DatabaseHandle &database, const std::string &path, int flags) {
    const char *files = guarded_files();
    if (!files) return environment_error(path + ": SQLite cannot be set up");
    // "./" keeps a file named "file:..." from being read as a URI.
    const std::string name = path.starts_with("file:") ? "./" + path : path;
    if (const int code = sqlite3_open_v2(name.c_str(), &database.db, flags, files); code != SQLITE_OK) {
        return explain(database, code);
    }
    database.lock_wait = lock_wait_of_program();
    sqlite3_busy_handler(database.db, wait_for_lock, &database);
    sqlite3_progress_handler(database.db, steps_between_looks, look_for_interrupt, &database);
    set_limits(database.db);
    distrust_file(database.db);
    return {};
}

}  // namespace kiln
