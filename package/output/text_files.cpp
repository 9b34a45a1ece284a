#include "package/output/text_files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

namespace kiln {
namespace fs = std::filesystem;

namespace {

// Streams do not always leave a number behind.
std::string why() { return strerror(errno != 0 ? errno : EIO); }

}  // namespace

Error cannot(const std::string &what, const fs::path &path, const std::string &reason) {
    return environment_error(fmt::format("{}: cannot {}: {}", path.string(), what, reason));
}

Status write_text(const fs::path &path, const std::string &text) {
    if (Status s = make_folders(path.parent_path()); !s) return s;
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) return cannot("write", path, why());
    return {};
}

Status make_folders(const fs::path &folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return cannot("make the folder", folder, error.message());
    return {};
}

}  // namespace kiln
