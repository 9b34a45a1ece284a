// Weights in huge pages.
//
// A kernel reads large weights once a run, from memory. In pages of 4 KiB the processor looks up where each page lies, in a
// virtual machine through two tables, and its prefetchers stop at each end. A mapped file has such pages on most systems,
// so a large file is read into memory that the system is asked to hold in huge pages.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace kiln {

// Less than this is mapped: copying would cost more than it gains.
inline constexpr size_t min_bytes_in_huge_pages = size_t{16} << 20;

// What the system says of memory, in bytes; unknown_bytes where it does not.
inline constexpr uint64_t unknown_bytes = UINT64_MAX;
struct MemoryReport {
    uint64_t physical = unknown_bytes;
    uint64_t available = unknown_bytes;  // without taking it from other programs
    uint64_t limit = unknown_bytes;      // of the group of processes (cgroup) that this one is in: a container's
};

// The system ends processes for what a limit does not hold, so a copy is a small part of what this one may have, and of what
// is left.
bool has_room_for_copy(uint64_t bytes, const MemoryReport &memory);

// The number in a file of a limit, or in /proc/meminfo: "max\n" and what is no number are unknown_bytes.
uint64_t limit_in(const char *text);
uint64_t available_in(const char *meminfo);

// The bytes of an open file, read-only, in huge pages; the last ones may lie in small pages. The caller gives the memory
// back by munmap(answer, bytes). Null where the system gives no huge pages or there is no room for a copy, and where the
// file cannot be read or holds fewer bytes.
const void *read_into_huge_pages(int file, size_t bytes);

}  // namespace kiln
