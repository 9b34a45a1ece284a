#include "runtime/network/huge_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace kiln {
namespace {

// What the system says in one of its small files; empty where there is none.
struct SystemText {
    char text[128] = "";

    explicit SystemText(const char *path) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        const ssize_t length = read(file, text, sizeof text - 1);
        text[length > 0 ? length : 0] = 0;
        close(file);
    }
};

bool may_ask_for_huge_pages() {
    const SystemText enabled("/sys/kernel/mm/transparent_hugepage/enabled");
    return strstr(enabled.text, "[always]") != nullptr || strstr(enabled.text, "[madvise]") != nullptr;
}

// A power of two; 0 where the system does not say.
size_t huge_page_bytes() {
    const SystemText size("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    const unsigned long long bytes = strtoull(size.text, nullptr, 10);
    return (bytes & (bytes - 1)) == 0 ? size_t(bytes) : 0;
}

// A mapped file may leave memory when others need it; a copy may not. So a copy is to be a small part of all.
bool is_small_part_of_memory(size_t bytes) {
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 && bytes / size_t(page_bytes) < size_t(pages) / 8;
}

// Empty memory that begins at a multiple of `alignment`; null where the system has none.
char *aligned_memory(size_t bytes, size_t alignment) {
    const size_t reserved = bytes + alignment;
    void *memory = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    char *const begin = static_cast<char *>(memory);
    const size_t before = (alignment - reinterpret_cast<uintptr_t>(begin) % alignment) % alignment;
    const size_t page = size_t(sysconf(_SC_PAGESIZE)), kept = (bytes + page - 1) / page * page;
    if (before > 0) munmap(begin, before);
    if (before + kept < reserved) munmap(begin + before + kept, reserved - before - kept);
    return begin + before;
}

bool read_all(int file, char *to, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        const ssize_t count = pread(file, to + done, bytes - done, off_t(done));
        if (count == 0 || (count < 0 && errno != EINTR)) return false;
        if (count > 0) done += size_t(count);
    }
    return true;
}

}  // namespace

const void *read_into_huge_pages(int file, size_t bytes) {
    const size_t huge_page = may_ask_for_huge_pages() && is_small_part_of_memory(bytes) ? huge_page_bytes() : 0;
    if (huge_page == 0 || bytes < huge_page) return nullptr;
    char *const memory = aligned_memory(bytes, huge_page);
    if (memory == nullptr) return nullptr;
    const bool is_read = madvise(memory, bytes, MADV_HUGEPAGE) == 0 && read_all(file, memory, bytes) &&
                         mprotect(memory, bytes, PROT_READ) == 0;
    if (is_read) return memory;
    munmap(memory, bytes);
    return nullptr;
}

}  // namespace kiln
