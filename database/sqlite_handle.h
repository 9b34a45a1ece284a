// A connection's handle, for the files that implement sqlite.h.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "database/files/lock_wait.h"
#include "workload/result.h"

namespace kiln {

struct DatabaseHandle {
    std::string path;  // as messages name it
    sqlite3 *db = nullptr;
    std::chrono::milliseconds patience{};
    LockWait lock_wait;
    std::chrono::steady_clock::time_point waiting_since;
    bool told = false;                  // that it waits
    std::function<bool()> interrupted;  // may be empty
    // Statements for the next time, by text: reset and without values. Null while one is in use.
    std::map<std::string, sqlite3_stmt *, std::less<>> kept;

    ~DatabaseHandle();
};

// The statement that was kept, if it is not in use; and back.
sqlite3_stmt *take_kept(DatabaseHandle &database, std::string_view sql);
void keep(DatabaseHandle &database, sqlite3_stmt *statement);

// The file's own name; empty for a database in memory.
std::string file_name(const DatabaseHandle &database);

// SQLite's result code as a message with the way out.
Error explain(const DatabaseHandle &database, int code);

// SQLite calls this with a handle while another process holds the lock it needs. Waits a little; 0 gives up.
int wait_for_lock(void *database, int earlier_calls);

// Opens the file and sets how it is waited for, what limits there are, and what SQLite may trust.
Status open_handle(DatabaseHandle &database, const std::string &path, int flags);

}  // namespace kiln
