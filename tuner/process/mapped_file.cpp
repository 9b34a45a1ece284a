#include "tuner/process/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "tuner/process/descriptor.h"

namespace kiln {

Result<MappedFile> MappedFile::open(const std::string &path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (!file.valid() || fstat(file.get(), &status) != 0) {
        return environment_error(fmt::format("{}: cannot be read: {}", path, strerror(errno)));
    }
    if (status.st_size == 0) {  // an empty tensor; mmap refuses empty mappings
        return MappedFile({});
    }
    void *memory = mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.get(), 0);
    if (memory == MAP_FAILED) {
        return environment_error(fmt::format("{}: cannot be mapped: {}", path, strerror(errno)));
    }
    return MappedFile({static_cast<const std::byte *>(memory), size_t(status.st_size)});
}

MappedFile::~MappedFile() {
    if (!data_.empty()) {
        munmap(const_cast<std::byte *>(data_.data()), data_.size());
    }
}

}  // namespace kiln
