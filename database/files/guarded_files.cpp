#include "database/files/guarded_files.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <string>

#include "database/files/side_files.h"

namespace kiln {
namespace {

// Whether the file has the name of such a file beside a database.
bool is_named_like(SideFile kind, const std::string &file) { return file.ends_with(path_of(kind, "")); }

bool may_use(SideFile kind, const std::string &file) {
    if (!is_named_like(kind, file)) return false;
    const std::string database = file.substr(0, file.size() - path_of(kind, "").size());
    if (problem_of(kind, database)) return false;
    return kind != SideFile::write_ahead_log || !problem_of(SideFile::shared_memory, database);
}

bool exists(const char *file) {
    struct stat status {};
    return ::lstat(file, &status) == 0;
}

// SQLite takes SQLITE_CANTOPEN of a journal for "hot", tries to open it for writing and is refused again, so that no
// transaction begins.
int open_guarded(sqlite3_vfs *, const char *name, sqlite3_file *file, int flags, int *flags_out) {
    sqlite3_vfs *system = sqlite3_vfs_find(nullptr);
    file->pMethods = nullptr;
    if (flags & SQLITE_OPEN_SUPER_JOURNAL) return SQLITE_CANTOPEN;
    const bool is_journal = flags & SQLITE_OPEN_MAIN_JOURNAL, is_log = flags & SQLITE_OPEN_WAL;
    if (!is_journal && !is_log) return system->xOpen(system, name, file, flags, flags_out);
    const SideFile kind = is_journal ? SideFile::journal : SideFile::write_ahead_log;
    if (!may_use(kind, name)) return SQLITE_CANTOPEN;
    const int code = system->xOpen(system, name, file, flags, flags_out);
    if (code != SQLITE_OK || (exists(name) && may_use(kind, name))) return code;
    file->pMethods->xClose(file);  // somebody exchanged it meanwhile
    file->pMethods = nullptr;
    return SQLITE_CANTOPEN;
}

// SQLite deletes journals and logs, also one that it finds beside an empty database, whatever it is.
int delete_guarded(sqlite3_vfs *, const char *name, int sync_folder) {
    sqlite3_vfs *system = sqlite3_vfs_find(nullptr);
    const bool may_delete = may_use(SideFile::journal, name) || may_use(SideFile::write_ahead_log, name);
    return may_delete ? system->xDelete(system, name, sync_folder) : SQLITE_IOERR_DELETE;
}

sqlite3_vfs guarded() {
    sqlite3_vfs files = *sqlite3_vfs_find(nullptr);
    files.zName = "kiln";
    files.pNext = nullptr;
    files.xOpen = open_guarded;
    files.xDelete = delete_guarded;
    return files;
}

}  // namespace

// SQLite keeps a pointer to it for as long as the process runs.
const char *guarded_files() {
    static sqlite3_vfs files = guarded();
    static const int registered = sqlite3_vfs_register(&files, 0);
    return registered == SQLITE_OK ? files.zName : nullptr;
}

}  // namespace kiln
