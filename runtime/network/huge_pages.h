// Weights in huge pages.
//
// A kernel reads large weights once a run, from memory. In pages of 4 KiB the processor looks up where each page lies, in a
// virtual machine through two tables, and its prefetchers stop at each end. A mapped file has such pages on most systems,
// so a large file is read into memory that the system is asked to hold in huge pages.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stddef.h>

namespace kiln {

// Less than this is mapped: copying would cost more than it gains.
inline constexpr size_t min_bytes_in_huge_pages = size_t{16} << 20;

// The bytes of an open file, read-only, in huge pages; the last ones may lie in small pages. The caller gives the memory
// back by munmap(answer, bytes). Null where the system gives no huge pages or too little memory, and where the file
// cannot be read or holds fewer bytes.
const void *read_into_huge_pages(int file, size_t bytes);

}  // namespace kiln
