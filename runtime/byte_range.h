// Ranges of bytes that a call reads or writes.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace kiln {

struct ByteRange {
    const void *data = nullptr;
    size_t bytes = 0;

    // Differences wrap around, so neither end can overflow.
    bool meets(const ByteRange &other) const {
        const auto begin = reinterpret_cast<uintptr_t>(data), other_begin = reinterpret_cast<uintptr_t>(other.data);
        return bytes > 0 && other.bytes > 0 && (begin - other_begin < other.bytes || other_begin - begin < bytes);
    }
};

// Precondition: alignment is a power of two. (Division would take a third of the time of a call's checks.)
inline bool is_aligned(const void *data, size_t alignment) {
    return (reinterpret_cast<uintptr_t>(data) & (alignment - 1)) == 0;
}

// Sums of sizes that a size_t cannot hold. No buffer is large enough then.
inline constexpr size_t no_such_size = SIZE_MAX;

}  // namespace kiln
