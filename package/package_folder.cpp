#include "package/package_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "package/manifest.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

Error cannot(const std::string &what, const fs::path &path, const std::string &why) {
    return environment_error(fmt::format("{}: cannot {}: {}", path.string(), what, why));
}

// The new folder takes the place of this name: links are resolved, and there is no trailing slash.
Result<fs::path> real_path(const std::string &folder) {
    if (folder.empty()) return Error{ErrorCode::usage, "the output folder has an empty name"};
    std::error_code error;
    fs::path path = fs::weakly_canonical(fs::absolute(folder, error), error);
    if (error) return cannot("be used as output folder", folder, error.message());
    if (!path.has_filename()) path = path.parent_path();
    if (path == path.root_path()) return Error{ErrorCode::usage, folder + ": the root cannot be the output folder"};
    return path;
}

bool has_manifest(const fs::path &folder) {
    std::error_code error;
    for (fs::directory_iterator it(folder / "share", error), end; !error && it != end; it.increment(error)) {
        const Result<std::string> text = read_text(it->path() / "manifest.json");
        if (text && is_manifest(*text)) return true;
    }
    return false;
}

Status check_replaceable(const fs::path &folder) {
    std::error_code error;
    const fs::file_status status = fs::status(folder, error);
    if (status.type() == fs::file_type::not_found) return {};
    if (error) return cannot("look at the output folder", folder, error.message());
    if (status.type() != fs::file_type::directory) {
        return bad_input(folder.string() + ": exists and is not a folder; choose another output");
    }
    const bool empty = fs::is_empty(folder, error);
    if (error) return cannot("look into the output folder", folder, error.message());
    if (empty || has_manifest(folder)) return {};
    return bad_input(folder.string() +
                     ": exists and is not a package of kiln's; it would be replaced, so choose another output");
}

// A build that was killed leaves its folder behind; the process number in the name says whether it is still at work.
void remove_abandoned(const fs::path &parent, const std::string &prefix) {
    std::error_code error;
    for (fs::directory_iterator it(parent, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.starts_with(prefix)) continue;
        const int process = std::atoi(name.c_str() + prefix.size());
        std::error_code ignored;
        if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) fs::remove_all(it->path(), ignored);
    }
}

}  // namespace

Result<PackageFolder> PackageFolder::create(const std::string &folder) {
    const Result<fs::path> output = real_path(folder);
    if (!output) return output.error();
    if (Status s = check_replaceable(*output); !s) return s.error();
    const fs::path parent = output->parent_path();
    if (Status s = make_folders(parent); !s) return s.error();
    const std::string prefix = fmt::format(".{}.kiln-", output->filename().string());
    remove_abandoned(parent, prefix);
    const fs::path path = parent / (prefix + std::to_string(getpid()));
    std::error_code error;
    if (!fs::create_directory(path, error)) {
        return cannot("write a package into the folder", parent, error ? error.message() : path.string() + " exists");
    }
    return PackageFolder(path, *output);
}

PackageFolder::PackageFolder(fs::path path, fs::path output) : path_(std::move(path)), output_(std::move(output)) {}
PackageFolder::PackageFolder(PackageFolder &&other) noexcept
    : path_(std::exchange(other.path_, {})), output_(std::move(other.output_)) {}

PackageFolder::~PackageFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
}

Status PackageFolder::commit() {
    if (Status s = check_replaceable(output_); !s) return s;  // it may have changed since
    if (rename(path_.c_str(), output_.c_str()) == 0) {        // nothing or an empty folder there
        path_.clear();
        return {};
    }
    if (errno != ENOTEMPTY && errno != EEXIST) return cannot("write", output_, strerror(errno));
    if (renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, output_.c_str(), RENAME_EXCHANGE) == 0) return {};
    // File systems that cannot exchange: two steps.
    const fs::path old = path_.string() + ".old";
    if (rename(output_.c_str(), old.c_str()) != 0 || rename(path_.c_str(), output_.c_str()) != 0) {
        return cannot("replace", output_, strerror(errno));
    }
    path_ = old;
    return {};
}

Status write_text(const fs::path &path, const std::string &text) {
    if (Status s = make_folders(path.parent_path()); !s) return s;
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return cannot("write", path, strerror(errno));
    return {};
}

Result<std::string> read_text(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return cannot("read", path, strerror(errno));
    return std::string(std::istreambuf_iterator<char>(file), {});
}

Status make_folders(const fs::path &folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return cannot("make the folder", folder, error.message());
    return {};
}

}  // namespace kiln
