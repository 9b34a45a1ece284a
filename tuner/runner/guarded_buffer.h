// Memory for a kernel's operands, between pages that nobody may touch: an access just outside ends the process and is
// reported by crash.h.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "workload/result.h"

namespace kiln {

// An access outside is seen at once only on the side where the guard begins with the next byte.
enum class Placement {
    end_at_guard,    // the last byte is followed by a guard
    start_at_guard,  // the first byte follows a guard
};

struct BufferRequest {
    const char *name;  // a literal, for reports
    size_t bytes = 0;
    size_t alignment = 64;  // the data's end is rounded up to this too
    Placement placement = Placement::start_at_guard;
    size_t offset = 0;  // of the data from the start of its page; only with start_at_guard
};

class GuardedBuffer {
public:
    static Result<GuardedBuffer> allocate(const BufferRequest &request);
    GuardedBuffer(GuardedBuffer &&other) noexcept
        : mapping_(std::exchange(other.mapping_, {})), data_(other.data_), region_(std::exchange(other.region_, -1)) {}
    GuardedBuffer &operator=(GuardedBuffer &&) = delete;
    ~GuardedBuffer();

    std::span<std::byte> data() const { return data_; }
    void set_read_only(bool read_only);

private:
    GuardedBuffer(std::span<std::byte> mapping, std::span<std::byte> data, int region)
        : mapping_(mapping), data_(data), region_(region) {}

    std::span<std::byte> mapping_;  // with the guards
    std::span<std::byte> data_;
    int region_;
};

}  // namespace kiln
