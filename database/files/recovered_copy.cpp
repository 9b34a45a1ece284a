#include "database/files/recovered_copy.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <tuple>
#include <vector>

#include "database/files/open_file.h"
#include "database/files/side_files.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr SideFile copied[] = {SideFile::journal, SideFile::write_ahead_log};

// A folder that only this user can read. Removes what SQLite puts into it, and nothing else.
class CopyFolder {
public:
    static Result<std::unique_ptr<CopyFolder>> make(const std::string &original) {
        std::error_code problem;
        const fs::path parent = fs::temp_directory_path(problem);
        struct stat status {};
        constexpr mode_t everybody = S_IWOTH;
        if (::stat(parent.c_str(), &status) == 0 && (status.st_mode & (everybody | S_ISVTX)) == everybody) {
            return environment_error(fmt::format(
                "{}: a killed writer left it half-written, so it is read from a copy, but in {} everybody may exchange "
                "files; set TMPDIR to a folder of your own",
                original, parent.string()));
        }
        std::string pattern = (parent / "kiln-database-XXXXXX").string();
        if (problem || !::mkdtemp(pattern.data())) {
            return environment_error(
                fmt::format("{}: a killed writer left it half-written, so it is read from a copy, but no temporary "
                            "folder can be made "
                            "({}); set TMPDIR to a folder that can be written",
                            original, problem ? problem.message() : std::strerror(errno)));
        }
        return std::unique_ptr<CopyFolder>(new CopyFolder(pattern));
    }
    CopyFolder(const CopyFolder &) = delete;
    CopyFolder &operator=(const CopyFolder &) = delete;
    ~CopyFolder() {
        std::error_code ignored;
        fs::remove(database(), ignored);
        for (const SideFile kind : {SideFile::journal, SideFile::write_ahead_log, SideFile::shared_memory}) {
            fs::remove(path_of(kind, database()), ignored);
        }
        fs::remove(path_, ignored);
    }
    std::string database() const { return path_ + "/copy.db"; }

private:
    explicit CopyFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;
};

Error cannot_copy(const Connection &original, const std::string &to) {
    return environment_error(
        fmt::format("{}: cannot be copied to {} ({}); make room there, or set TMPDIR to another folder",
                    original.path(), to, std::strerror(errno)));
}

Status check_room(const Connection &original, const std::string &folder) {
    const Result<int64_t> size = original.file_size();
    if (!size) return size.error();
    std::error_code problem;
    const fs::space_info space = fs::space(folder, problem);
    if (problem || static_cast<uintmax_t>(*size) < space.available) return {};
    errno = ENOSPC;
    return cannot_copy(original, folder);
}

Status copy_database(const Connection &original, const std::string &to) {
    constexpr int64_t block = 1 << 20;
    const OpenFile copy(to, O_WRONLY | O_CREAT | O_EXCL);
    if (!copy.is_open()) return cannot_copy(original, to);
    for (int64_t offset = 0;;) {
        const Result<std::string> bytes = original.read_file(offset, block);
        if (!bytes) return bytes.error();
        if (bytes->empty()) return {};
        if (::pwrite(copy.number(), bytes->data(), bytes->size(), offset) != static_cast<ssize_t>(bytes->size())) {
            return cannot_copy(original, to);
        }
        offset += static_cast<int64_t>(bytes->size());
    }
}

// A journal or log. SQLite looks at the copy again before it uses it.
Status copy_side_file(const Connection &original, SideFile kind, const std::string &to) {
    const std::string from = path_of(kind, original.file());
    if (auto problem = problem_of(kind, original.file())) return bad_input(std::move(*problem));
    const OpenFile file(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!file.is_open()) {
        return errno == ENOENT ? Status() : environment_error(from + ": cannot be read: " + std::strerror(errno));
    }
    const OpenFile copy(path_of(kind, to), O_WRONLY | O_CREAT | O_EXCL);
    if (!copy.is_open()) return cannot_copy(original, to);
    std::string bytes(1 << 20, '\0');
    for (;;) {
        const ssize_t count = ::read(file.number(), bytes.data(), bytes.size());
        if (count < 0) return environment_error(from + ": cannot be read: " + std::strerror(errno));
        if (count == 0) return {};
        if (::write(copy.number(), bytes.data(), static_cast<size_t>(count)) != count) return cannot_copy(original, to);
    }
}

Status copy_all(const Connection &original, const std::string &to) {
    std::error_code ignored;
    fs::remove(to, ignored);
    for (const SideFile kind : copied) fs::remove(path_of(kind, to), ignored);
    if (Status status = copy_database(original, to); !status) return status;
    for (const SideFile kind : copied) {
        if (Status status = copy_side_file(original, kind, to); !status) return status;
    }
    return {};
}

// Size and time of the last change of the database and of its log: a lock keeps nobody from writing a log back.
using State = std::vector<std::tuple<int64_t, int64_t, int64_t>>;
State state_of(const Connection &original) {
    State state;
    for (const std::string &path : {original.file(), path_of(SideFile::write_ahead_log, original.file())}) {
        struct stat status {};
        if (::stat(path.c_str(), &status) == 0) {
            state.emplace_back(status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
        }
    }
    return state;
}

Status copy_unchanged(const Connection &original, const std::string &to) {
    for (int tries = 0; tries < 5; ++tries) {
        const State before = state_of(original);
        if (Status status = original.while_unwritten([&] { return copy_all(original, to); }); !status) return status;
        if (state_of(original) == before) return {};
    }
    return environment_error(original.path() + ": another program writes it all the time; run again when it has ended");
}

}  // namespace

Result<Connection> recovered_copy(const Connection &original) {
    Result<std::unique_ptr<CopyFolder>> folder = CopyFolder::make(original.path());
    if (!folder) return folder.error();
    const std::string path = (*folder)->database();
    if (Status status = check_room(original, fs::path(path).parent_path().string()); !status) return status.error();
    if (Status status = copy_unchanged(original, path); !status) return status.error();
    Result<Connection> copy = Connection::open(path, OpenMode::write);
    if (!copy) return copy;
    copy->show_as(original.path());
    for (const char *sql : {"PRAGMA user_version", "PRAGMA query_only = ON"}) {  // the first one recovers
        if (Status status = copy->run(sql); !status) return status.error();
    }
    return copy;
}

}  // namespace kiln
