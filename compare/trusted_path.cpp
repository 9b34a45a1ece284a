#include "compare/trusted_path.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace kiln {
namespace fs = std::filesystem;

namespace {

constexpr uid_t root = 0;

// Why somebody else could change what lies there; null if nobody could.
const char *doubt_about(const struct stat &status) {
    if (status.st_uid != root && status.st_uid != geteuid()) return "belongs to another user";
    const bool is_sticky_folder = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
    if ((status.st_mode & S_IWOTH) != 0 && !is_sticky_folder) return "can be written by everybody";
    const bool is_own_group = status.st_uid == root || status.st_gid == getegid();  // root chose the group of its files
    if ((status.st_mode & S_IWGRP) != 0 && !is_own_group) return "can be written by another group";
    return nullptr;
}

}  // namespace

Status check_trusted(const fs::path &path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error) return environment_error(fmt::format("{}: {}", path.string(), error.message()));
    for (fs::path part = real;; part = part.parent_path()) {
        struct stat status = {};
        if (lstat(part.c_str(), &status) != 0) {
            return environment_error(fmt::format("{}: {}", part.string(), strerror(errno)));
        }
        if (const char *doubt = doubt_about(status)) {
            return environment_error(
                fmt::format("{} {}, so {} is not run; change its owner or mode, or choose another "
                            "folder",
                            part.string(), doubt, path.string()));
        }
        if (part == part.root_path()) return {};
    }
}

}  // namespace kiln
