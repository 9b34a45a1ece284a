#include "database/files/side_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "database/files/open_file.h"

namespace kiln {
namespace {

// https://sqlite.org/fileformat2.html, sections 3 and 4.
constexpr std::string_view journal_magic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::string_view log_magic("\x37\x7f\x06\x82", 4), other_log_magic("\x37\x7f\x06\x83", 4);

std::string read_at(const OpenFile &file, off_t offset, size_t bytes) {
    std::string text(bytes, '\0');
    const ssize_t count = ::pread(file.number(), text.data(), bytes, offset);
    text.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return text;
}

bool begins_like(const std::string &text, std::string_view magic) {
    return text.starts_with(magic.substr(0, std::min(text.size(), magic.size())));
}

// A journal begins with its magic number, or with a zero where it is not in use. A super-journal's name is the last
// record of the file and ends with the magic number, too. SQLite looks at the end of the file only, whatever is before
// it, also of a journal that is not in use: a later transaction need not reach the old end.
std::optional<std::string> journal_problem(const OpenFile &file, off_t size) {
    const std::string head = read_at(file, 0, journal_magic.size());
    if (!head.empty() && head[0] != '\0' && !begins_like(head, journal_magic)) {
        return "it is no journal of SQLite's; move it away";
    }
    const auto tail_size = static_cast<off_t>(journal_magic.size());
    if (size >= tail_size && size > static_cast<off_t>(head.size()) &&
        read_at(file, size - tail_size, journal_magic.size()) == journal_magic) {
        return "it names a super-journal, which SQLite would delete. kiln writes none. Do not use this database, or "
               "move "
               "the journal away and run `kiln db verify`";
    }
    return std::nullopt;
}

std::optional<std::string> content_problem(SideFile kind, const std::string &path, off_t size) {
    const OpenFile file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file.is_open()) return std::nullopt;  // SQLite cannot read it either
    if (kind == SideFile::journal) return journal_problem(file, size);
    const std::string head = read_at(file, 0, log_magic.size());
    const bool is_log = begins_like(head, log_magic) || begins_like(head, other_log_magic);
    if (kind == SideFile::write_ahead_log && !is_log) return "it is no write-ahead log of SQLite's; move it away";
    return std::nullopt;
}

bool is_in_sticky_folder(const std::string &path) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    struct stat status {};
    return ::stat(folder.empty() ? "." : folder.c_str(), &status) == 0 && (status.st_mode & S_ISVTX);
}

// Where root makes a journal, SQLite gives it to the owner of the database.
bool is_foreign(uid_t owner, const std::string &database) {
    if (owner == ::geteuid() || owner == 0) return false;
    struct stat status {};
    return ::geteuid() != 0 || ::stat(database.c_str(), &status) != 0 || status.st_uid != owner;
}

}  // namespace

std::string path_of(SideFile kind, const std::string &database) {
    constexpr std::array endings = {"-journal", "-wal", "-shm"};
    return database + endings[static_cast<size_t>(kind)];
}

std::optional<std::string> problem_of(SideFile kind, const std::string &database) {
    const std::string path = path_of(kind, database);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return std::nullopt;  // not there, or SQLite cannot see it either
    const auto problem = [&](const std::string &what) { return fmt::format("{}: {}", path, what); };
    if (!S_ISREG(status.st_mode)) {
        return problem("lies where SQLite keeps a file of its own, but is no regular file; remove it");
    }
    // An empty one says nothing. Users that share a folder leave each other empty journals. In a sticky folder, though,
    // they cannot replace each other's files, and the owner of a journal can change it while it is in use.
    if (is_foreign(status.st_uid, database) && (status.st_size > 0 || is_in_sticky_folder(path))) {
        return problem(
            fmt::format("belongs to another user (uid {}), and SQLite would copy it into the database; let "
                        "that user run kiln on it, or move it away and run `kiln db verify`",
                        status.st_uid));
    }
    if (status.st_size == 0) return std::nullopt;
    const auto content = content_problem(kind, path, status.st_size);
    return content ? std::optional(problem(*content)) : std::nullopt;
}

std::optional<std::string> side_file_problem(const std::string &database) {
    for (const SideFile kind : {SideFile::journal, SideFile::write_ahead_log, SideFile::shared_memory}) {
        if (auto problem = problem_of(kind, database)) return problem;
    }
    return std::nullopt;
}

}  // namespace kiln
