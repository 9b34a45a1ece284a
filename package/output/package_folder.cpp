#include "package/output/package_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>
#include <utility>

#include "package/output/package_files.h"
#include "package/output/package_name.h"
#include "package/output/text_files.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

constexpr const char *marker = ".kiln-build";  // holds the package's name

bool is_ours(const struct stat &status) { return status.st_uid == geteuid(); }

// Somebody else's link in a folder for everybody, such as /tmp, would choose what is replaced.
Status check_link(const fs::path &path) {
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
    if (!is_ours(status) && status.st_uid != 0) {
        return bad_input(path.string() + ": is a link of another user; choose another output");
    }
    std::error_code error;
    if (!fs::exists(path, error)) {
        return bad_input(path.string() + ": is a link to something that does not exist; choose another output");
    }
    return {};
}

// The new folder takes the place of this name: links are resolved, and there is no trailing slash.
Result<fs::path> real_path(const std::string &folder) {
    if (folder.empty()) return Error{ErrorCode::usage, "the output folder has an empty name"};
    std::error_code error;
    fs::path path = fs::absolute(folder, error);
    if (error) return cannot("be used as output folder", folder, "the working folder: " + error.message());
    if (!path.has_filename()) path = path.parent_path();
    if (Status s = check_link(path); !s) return s.error();
    path = fs::weakly_canonical(path, error);
    if (error) return cannot("be used as output folder", folder, error.message());
    if (path == path.root_path()) return Error{ErrorCode::usage, folder + ": the root cannot be the output folder"};
    return path;
}

Status check_replaceable(const fs::path &folder, const std::string &name) {
    struct stat status = {};
    if (lstat(folder.c_str(), &status) != 0) {
        if (errno == ENOENT) return {};
        return cannot("look at the output folder", folder, strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        return bad_input(folder.string() + ": exists and is not a folder; choose another output");
    }
    if (!is_ours(status)) return bad_input(folder.string() + ": belongs to another user; choose another output");
    const Result<std::optional<std::string>> there = package_in(folder);
    if (!there) return there.error();
    if (!*there || **there == name) return {};
    return bad_input(
        fmt::format("{}: holds the package {}, and this one is {}; choose another output, or --name {} to replace it",
                    folder.string(), **there, name, **there));
}

// Nothing if it is not a folder of ours, or somebody has the lock.
Descriptor lock_folder(const fs::path &path) {
    Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status = {};
    const bool locked = folder.valid() && fstat(folder.get(), &status) == 0 && is_ours(status) &&
                        flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
    return locked ? std::move(folder) : Descriptor();
}

// The name in the marker; empty if there is no marker.
std::string marked_name(int folder) {
    const Descriptor file(openat(folder, marker, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    char name[128];
    const ssize_t size = file.valid() ? read(file.get(), name, sizeof name) : 0;
    std::string text(name, size_t(std::max<ssize_t>(size, 0)));
    return check_package_name(text).ok() ? text : "";
}

Status mark(const fs::path &folder, const std::string &name) { return write_text(folder / marker, name); }

// The package's files, then the marker, so that a removal that is cut short goes on next time.
void remove_marked(const fs::path &path, int folder, const std::string &name) {
    remove_package(folder, name, {marker});
    rmdir(path.c_str());
}

void remove_abandoned(const fs::path &parent, const std::string &prefix) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        if (!it->path().filename().string().starts_with(prefix)) continue;
        const Descriptor folder = lock_folder(it->path());
        const std::string name = folder.valid() ? marked_name(folder.get()) : "";
        if (!name.empty()) remove_marked(it->path(), folder.get(), name);
    }
}

// With the permissions that the user's mask leaves, since it becomes the output.
Result<fs::path> make_new_folder(const fs::path &parent, const std::string &prefix) {
    constexpr int attempts = 100;
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
    std::random_device random;
    for (int i = 0; i < attempts; i++) {
        std::string name = prefix;
        for (int c = 0; c < 6; c++) name += letters[random() % letters.size()];
        if (mkdir((parent / name).c_str(), 0777) == 0) return parent / name;
        if (errno != EEXIST) break;
    }
    return cannot("write a package into the folder", parent, strerror(errno));
}

// Beside an output with a name of any length.
std::string staging_prefix(const fs::path &output) {
    constexpr size_t longest = 200;  // of 255 bytes
    return fmt::format(".{}.kiln-", output.filename().string().substr(0, longest));
}

}  // namespace

Result<PackageFolder> PackageFolder::create(const std::string &folder, const std::string &name) {
    const Result<fs::path> output = real_path(folder);
    if (!output) return output.error();
    if (Status s = check_replaceable(*output, name); !s) return s.error();
    const fs::path parent = output->parent_path();
    Result<MadeFolders> parents = MadeFolders::make(parent);
    if (!parents) return parents.error();
    const std::string prefix = staging_prefix(*output);
    remove_abandoned(parent, prefix);
    const Result<fs::path> path = make_new_folder(parent, prefix);
    if (!path) return path.error();
    // Where there are no locks, nobody else gets this one either, and the folder stays if this build is killed.
    PackageFolder made(std::move(*parents), *path, *output, name);
    if (Status s = mark(*path, name); !s) return s.error();
    return made;
}

PackageFolder::PackageFolder(MadeFolders parents, fs::path path, fs::path output, std::string name)
    : parents_(std::move(parents)),
      path_(std::move(path)),
      output_(std::move(output)),
      name_(std::move(name)),
      lock_(lock_folder(path_)) {}
PackageFolder::PackageFolder(PackageFolder &&other) noexcept
    : parents_(std::move(other.parents_)),
      path_(std::exchange(other.path_, {})),
      output_(std::move(other.output_)),
      name_(std::move(other.name_)),
      lock_(std::move(other.lock_)) {}

PackageFolder::~PackageFolder() {
    if (path_.empty()) return;
    const Descriptor folder(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder.valid()) remove_marked(path_, folder.get(), name_);
}

Status PackageFolder::commit() {
    Status taken = take_place();
    if (taken) parents_.keep();
    return taken;
}

Status PackageFolder::take_place() {
    if (Status s = check_replaceable(output_, name_); !s) return s;  // it may have changed since
    std::error_code ignored;
    fs::remove(path_ / marker, ignored);
    if (rename(path_.c_str(), output_.c_str()) == 0) {  // nothing or an empty folder there
        path_.clear();
        return {};
    }
    if (errno != ENOTEMPTY && errno != EEXIST) return cannot("write", output_, strerror(errno));
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, output_.c_str(), RENAME_EXCHANGE) != 0) {
        // File systems that cannot exchange: two steps.
        const fs::path old = path_.string() + ".old";
        if (rename(output_.c_str(), old.c_str()) != 0) return cannot("replace", output_, strerror(errno));
        if (rename(path_.c_str(), output_.c_str()) != 0) {
            const Error error = cannot("replace", output_, strerror(errno));
            rename(old.c_str(), output_.c_str());
            return error;
        }
        path_ = old;
    }
    (void)mark(path_, name_);  // the old package, from here on an abandoned folder
    return {};
}

}  // namespace kiln
