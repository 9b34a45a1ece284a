#include "tuner/process/temporary_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace kiln {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "kiln-work-";

Descriptor open_folder(const std::string &path) {
    return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool still_there(const std::string &path, const Descriptor &folder) {
    struct stat by_path, by_descriptor;
    return stat(path.c_str(), &by_path) == 0 && fstat(folder.get(), &by_descriptor) == 0 &&
           by_path.st_ino == by_descriptor.st_ino && by_path.st_dev == by_descriptor.st_dev;
}

void remove_abandoned(const fs::path &parent) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        if (!it->path().filename().string().starts_with(prefix)) {
            continue;
        }
        const Descriptor folder = open_folder(it->path().string());
        struct stat status;
        if (folder.valid() && fstat(folder.get(), &status) == 0 && status.st_uid == getuid() &&
            flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
            std::error_code ignored;
            fs::remove_all(it->path(), ignored);
        }
    }
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
    const char *variable = getenv("TMPDIR");
    const fs::path parent = variable && *variable ? variable : "/tmp";
    remove_abandoned(parent);
    for (;;) {
        std::string path = (parent / (std::string(prefix) + "XXXXXX")).string();
        if (!mkdtemp(path.data())) {
            return environment_error(
                fmt::format("{}: cannot make a temporary folder: {}; set TMPDIR to a writable folder", parent.string(),
                            strerror(errno)));
        }
        Descriptor lock = open_folder(path);
        // Another job may have taken the folder for an abandoned one before the lock was set; then try again.
        if (lock.valid() && flock(lock.get(), LOCK_EX) == 0 && still_there(path, lock)) {
            return TemporaryFolder(std::move(path), std::move(lock));
        }
        if (lock.valid() && still_there(path, lock)) {
            return environment_error(
                fmt::format("{}: cannot lock: {}; set TMPDIR to a local folder", path, strerror(errno)));
        }
    }
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
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
}

}  // namespace kiln
