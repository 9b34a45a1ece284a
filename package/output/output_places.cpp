#include "package/output/output_places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "package/output/text_files.h"
#include "tuner/process/descriptor.h"

namespace kiln {
namespace fs = std::filesystem;

namespace {

bool is_missing(const fs::path &path) {
    std::error_code error;
    return fs::status(path, error).type() == fs::file_type::not_found;
}

bool is_folder(const fs::path &path) {
    std::error_code error;
    return fs::is_directory(path, error);
}

}  // namespace

Result<MadeFolders> MadeFolders::make(const fs::path &folder) {
    std::vector<fs::path> missing;  // innermost first
    for (fs::path path = folder; !path.empty() && is_missing(path); path = path.parent_path()) missing.push_back(path);
    MadeFolders made;
    for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
        if (mkdir(path->c_str(), 0777) == 0) {
            made.folders_.push_back(*path);
        } else if (!is_folder(*path)) {  // another process may have made it just now
            return cannot("make the folder", *path, strerror(errno));
        }
    }
    if (!is_folder(folder)) return cannot("make the folder", folder, strerror(ENOTDIR));
    return made;
}

MadeFolders::MadeFolders(MadeFolders &&other) noexcept : folders_(std::exchange(other.folders_, {})) {}

MadeFolders::~MadeFolders() {
    for (auto path = folders_.rbegin(); path != folders_.rend(); ++path) rmdir(path->c_str());
}

Status check_output_file(const std::string &path) {
    const Descriptor made(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (made.valid()) {
        unlink(path.c_str());
        return {};
    }
    if (errno != EEXIST) return cannot("be written", path, strerror(errno));
    // A queue that nobody reads yet is one, and a link may lead to a file that is still to come.
    const Descriptor there(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (there.valid() || errno == ENXIO || errno == ENOENT) return {};
    return cannot("be written", path, strerror(errno));
}

Status check_output_folder(const std::string &path) {
    const fs::path folder = path;
    if (!is_missing(folder) && !is_folder(folder)) {
        return bad_input(path + ": is no folder; name another with -o");
    }
    std::error_code error;
    const fs::path whole = fs::absolute(folder, error).lexically_normal();
    if (error) return cannot("be used as output folder", folder, "the working folder: " + error.message());
    const Result<MadeFolders> made = MadeFolders::make(whole);
    if (!made) return made.error();
    std::string inside = (whole / ".kiln-XXXXXX").string();
    if (!mkdtemp(inside.data())) return cannot("write into the folder", folder, strerror(errno));
    rmdir(inside.c_str());
    return {};
}

}  // namespace kiln
