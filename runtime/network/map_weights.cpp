#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/network/huge_pages.h"
#include "runtime/network/network_call.h"

namespace kiln {
namespace {

kiln_status refuse(int32_t code, const char *detail) { return {code, KILN_NO_OPERAND, -1, detail}; }

enum class Where { in_pages_of_the_file, in_huge_pages };

kiln_status give(int file, Where where, kiln_weights *weights) {
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return refuse(KILN_CANNOT_READ, "the weights are no regular file");
    }
    if (about.st_size <= 0) return refuse(KILN_CANNOT_READ, "the file of the weights is empty");
    const auto bytes = static_cast<size_t>(about.st_size);
    const bool is_large = where == Where::in_huge_pages && bytes >= min_bytes_in_huge_pages;
    const void *data = is_large ? read_into_huge_pages(file, bytes) : nullptr;
    if (data == nullptr) data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED) return refuse(KILN_NO_RESOURCES, "the system does not map the file of the weights");
    *weights = {data, bytes};
    return refuse(KILN_OK, "ok");
}

kiln_status open_and_give(const char *path, Where where, kiln_weights *weights) {
    if (path == nullptr || weights == nullptr) return refuse(KILN_NULL_ARGUMENT, "path or weights is null");
    *weights = {};
    // A pipe would wait for its writer.
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return refuse(KILN_CANNOT_READ, "the file of the weights cannot be opened");
    const kiln_status status = give(file, where, weights);
    close(file);
    return status;
}

}  // namespace

kiln_status map_weights(const char *path, kiln_weights *weights) {
    return open_and_give(path, Where::in_pages_of_the_file, weights);
}

kiln_status load_weights(const char *path, kiln_weights *weights) {
    return open_and_give(path, Where::in_huge_pages, weights);
}

void unmap_weights(kiln_weights *weights) {
    if (weights == nullptr || weights->data == nullptr) return;
    munmap(const_cast<void *>(weights->data), weights->bytes);
    *weights = {};
}

}  // namespace kiln
