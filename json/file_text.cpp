#include "json/file_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

namespace kiln {
namespace {

class OpenFile {
public:
    OpenFile(const std::string &path, int flags) : number_(open(path.c_str(), flags)) {}
    OpenFile(const OpenFile &) = delete;
    ~OpenFile() {
        if (number_ >= 0) close(number_);
    }
    int get() const { return number_; }

private:
    const int number_;
};

Error refuse(const std::string &path, const std::string &why) { return bad_input(path + ": " + why); }

std::string size_text(int64_t bytes) {
    return bytes >= 1 << 20 ? fmt::format("{} MiB", bytes >> 20) : fmt::format("{} bytes", bytes);
}

Result<std::string> read_all(const std::string &path, int file, int64_t most_bytes, int64_t expected_bytes) {
    std::string text;
    text.reserve(size_t(expected_bytes));
    char chunk[65536];
    for (;;) {
        const ssize_t got = read(file, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_error(path, "read", errno);
        if (got == 0) return text;
        text.append(chunk, size_t(got));
        if (int64_t(text.size()) > most_bytes) return refuse(path, "has more than " + size_text(most_bytes));
    }
}

}  // namespace

Error file_error(const std::string &path, const char *what, int problem) {
    const std::string message = fmt::format("{}: cannot be {}: {}", path, what, strerror(problem));
    const bool is_environment = problem == EACCES || problem == EPERM || problem == EIO;
    return is_environment ? environment_error(message) : bad_input(message);
}

Result<std::string> read_file_text(const std::string &path, int64_t most_bytes, FileKind kind) {
    const int waiting = kind == FileKind::regular ? O_NONBLOCK : 0;
    const OpenFile file(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | waiting);
    struct stat status = {};
    if (file.get() < 0 || fstat(file.get(), &status) != 0) return file_error(path, "opened", errno);
    if (S_ISDIR(status.st_mode)) return refuse(path, "is a folder");
    const bool is_regular = S_ISREG(status.st_mode);
    if (!is_regular && kind == FileKind::regular) return refuse(path, "is no regular file");
    if (is_regular && status.st_size > most_bytes) return refuse(path, "has more than " + size_text(most_bytes));
    try {
        return read_all(path, file.get(), most_bytes, is_regular ? status.st_size : 0);
    } catch (const std::bad_alloc &) {
        return refuse(path, "is too large for the memory of this machine");
    }
}

}  // namespace kiln
