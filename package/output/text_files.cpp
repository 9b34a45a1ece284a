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

Result<std::string> read_text(const fs::path &path, int64_t most_bytes) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) return cannot("read", path, why());
    std::string text;
    char chunk[65536];
    while (file.read(chunk, sizeof chunk), file.gcount() > 0) {
        text.append(chunk, size_t(file.gcount()));
        if (int64_t(text.size()) <= most_bytes) continue;
        return cannot("read", path, fmt::format("it has more than {} MiB", most_bytes >> 20));
    }
    if (file.bad()) return cannot("read", path, why());
    return text;
}

Status make_folders(const fs::path &folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return cannot("make the folder", folder, error.message());
    return {};
}

}  // namespace kiln
