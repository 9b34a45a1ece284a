#include "graph/onnx/file/file_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace kiln::graph::onnx {

namespace {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(const Descriptor &) = delete;
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    int number() const { return number_; }

private:
    int number_;
};

// Which file it is, is the user's word; a disk that fails is not.
bool names_no_file(int problem) { return problem == ENOENT || problem == ENOTDIR || problem == ENAMETOOLONG; }

Error system_error(const std::string &what) { return environment_error(what + ": " + std::strerror(errno)); }

}  // namespace

Result<FileBytes> map_file(const std::filesystem::path &path, FinalLink link) {
    // A named pipe would wait for a writer.
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (link == FinalLink::refuse ? O_NOFOLLOW : 0);
    const Descriptor file(::open(path.c_str(), flags));
    struct stat status {};
    if (file.number() < 0 || ::fstat(file.number(), &status) != 0) {
        const bool is_nowhere = names_no_file(errno);
        const Error error = system_error("cannot be read");
        return is_nowhere ? bad_input(error.message) : error;
    }
    if (!S_ISREG(status.st_mode)) {
        return bad_input(S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file: copy it into one");
    }
    const size_t size = size_t(status.st_size);
    if (size == 0) {  // mmap refuses empty mappings
        return FileBytes{};
    }
    void *memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (memory == MAP_FAILED) {
        return system_error("cannot be mapped");
    }
    std::shared_ptr<const void> owner(memory,
                                      [size](const void *mapped) { ::munmap(const_cast<void *>(mapped), size); });
    return FileBytes{std::move(owner), {static_cast<const std::byte *>(memory), size}};
}

}  // namespace kiln::graph::onnx
