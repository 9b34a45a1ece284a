#include "tuner/process/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "tuner/process/started_child.h"

namespace kiln {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "kiln-work-", pattern = "XXXXXX", marker = ".kiln-work";
constexpr std::string_view marker_text =
    "A work folder of kiln, which the next kiln removes where this one was killed.\n";

Descriptor open_folder(const std::string &path) {
    return above_stdio(Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
}

bool still_there(const std::string &path, const Descriptor &folder) {
    struct stat by_path, by_descriptor;
    return lstat(path.c_str(), &by_path) == 0 && fstat(folder.get(), &by_descriptor) == 0 &&
           by_path.st_ino == by_descriptor.st_ino && by_path.st_dev == by_descriptor.st_dev;
}

// As mkdtemp() makes them.
bool is_name_of_ours(std::string_view name) {
    return name.starts_with(prefix) && name.size() == prefix.size() + pattern.size() &&
           std::all_of(name.begin() + prefix.size(), name.end(), [](unsigned char c) { return std::isalnum(c); });
}

bool has_marker(const Descriptor &folder) {
    const Descriptor file(openat(folder.get(), marker.data(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::array<char, marker_text.size() + 1> text = {};
    return file.valid() && read(file.get(), text.data(), text.size()) == ssize_t(marker_text.size()) &&
           std::string_view(text.data(), marker_text.size()) == marker_text;
}

bool set_marker(const Descriptor &folder) {
    const Descriptor file(openat(folder.get(), marker.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    return file.valid() && write(file.get(), marker_text.data(), marker_text.size()) == ssize_t(marker_text.size());
}

bool is_mine_alone(const Descriptor &folder) {
    struct stat status;
    return fstat(folder.get(), &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 0777) == 0700;
}

void remove_abandoned(const fs::path &parent) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        if (!is_name_of_ours(it->path().filename().string())) {
            continue;
        }
        const std::string path = it->path().string();
        const Descriptor folder = open_folder(path);
        if (folder.valid() && is_mine_alone(folder) && has_marker(folder) &&
            flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && still_there(path, folder)) {
            std::error_code ignored;
            fs::remove_all(path, ignored);
        }
    }
}

// Absolute, since children are told of it.
Result<fs::path> parent_folder() {
    const char *variable = getenv("TMPDIR");
    std::error_code error;
    const fs::path parent = fs::absolute(variable && *variable ? variable : "/tmp", error);
    if (error) {
        return environment_error(
            fmt::format("{}: cannot be found, because the current folder is gone: {}; set TMPDIR to a "
                        "path that begins with a slash",
                        variable, error.message()));
    }
    return parent;
}

// Where everybody may rename and remove what others made, programs and objects can be exchanged before they are used.
Status check_only_owners_remove(const fs::path &folder) {
    std::error_code no_such_folder;
    const fs::path real = fs::canonical(folder, no_such_folder);
    if (no_such_folder) return {};  // what is made there says why it cannot be
    for (fs::path part = real;; part = part.parent_path()) {
        struct stat status = {};
        if (lstat(part.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0) {
            return environment_error(fmt::format(
                "{}: everybody may remove and exchange files there, so no temporary folder is made in {}; set "
                "TMPDIR to a folder of your own, or set the sticky bit of this one",
                part.string(), folder.string()));
        }
        if (part == part.root_path()) return {};
    }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
    const Result<fs::path> parent = parent_folder();
    if (!parent) return parent.error();
    if (Status s = check_only_owners_remove(*parent); !s) return s.error();
    remove_abandoned(*parent);
    std::string path = (*parent / fmt::format("{}{}", prefix, pattern)).string();
    if (!mkdtemp(path.data())) {
        return environment_error(fmt::format("{}: cannot make a temporary folder: {}; set TMPDIR to a writable folder",
                                             parent->string(), strerror(errno)));
    }
    Descriptor lock = open_folder(path);
    // Nobody takes it for abandoned before: it has no marker yet.
    const bool made = lock.valid() && flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && set_marker(lock);
    if (made) return TemporaryFolder(std::move(path), std::move(lock));
    const Error error =
        environment_error(fmt::format("{}: cannot be used: {}; set TMPDIR to a local folder", path, strerror(errno)));
    unlink((path + "/").append(marker).c_str());
    rmdir(path.c_str());
    return error;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder &&other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TemporaryFolder &TemporaryFolder::operator=(TemporaryFolder &&other) noexcept {
    std::swap(path_, other.path_);
    std::swap(lock_, other.lock_);
    return *this;
}

TemporaryFolder::~TemporaryFolder() {
    if (!path_.empty()) {
        lock_.reset();  // there may be no descriptor left to list the folder with
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
}

}  // namespace kiln
