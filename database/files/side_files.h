// The files that SQLite keeps beside a database: FILE-journal, FILE-wal and FILE-shm. SQLite believes them. A journal
// that was left by a killed writer is copied back into the database. A journal may also name a super-journal, a file
// that SQLite then deletes, wherever it lies. kiln's journals never name one, because kiln writes one file at a time.
#pragma once

#include <optional>
#include <string>

namespace kiln {

enum class SideFile { journal, write_ahead_log, shared_memory };

// "FILE-journal", ...
std::string path_of(SideFile kind, const std::string &database);

// The reason why SQLite must not use the file beside the database, with the way out. Nothing where it may use the file,
// and where there is none. A file is refused that is no regular one, belongs to another user than this one and root, is
// of another kind, or names a super-journal.
std::optional<std::string> problem_of(SideFile kind, const std::string &database);

// The first problem of all three.
std::optional<std::string> side_file_problem(const std::string &database);

}  // namespace kiln
