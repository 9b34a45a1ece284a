#include "tuner/runner/guarded_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tuner/runner/crash.h"

namespace kiln {

namespace {

constexpr size_t guard_bytes = 1 << 20;  // wide enough to name the buffer for an access some rows outside

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Result<GuardedBuffer> GuardedBuffer::allocate(const BufferRequest &request) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    const size_t occupied = round_up(request.bytes, request.alignment);
    const size_t body = round_up(request.offset + occupied, page);
    const size_t total = body + 2 * guard_bytes;
    void *memory = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    auto *base = static_cast<std::byte *>(memory);
    if (memory == MAP_FAILED || mprotect(base + guard_bytes, body, PROT_READ | PROT_WRITE) != 0) {
        const int error = errno;
        if (memory != MAP_FAILED) {
            munmap(memory, total);
        }
        return environment_error(
            fmt::format("no memory for {} ({} bytes): {}", request.name, request.bytes, strerror(error)));
    }
    std::byte *data = base + guard_bytes;
    data += request.placement == Placement::end_at_guard ? body - occupied : request.offset;
    const int region = add_region({request.name, data, data + request.bytes, base, base + total});
    return GuardedBuffer({base, total}, {data, request.bytes}, region);
}

GuardedBuffer::~GuardedBuffer() {
    if (!mapping_.empty()) {
        remove_region(region_);
        munmap(mapping_.data(), mapping_.size());
    }
}

void GuardedBuffer::set_read_only(bool read_only) {
    mprotect(mapping_.data() + guard_bytes, mapping_.size() - 2 * guard_bytes,
             read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

}  // namespace kiln
