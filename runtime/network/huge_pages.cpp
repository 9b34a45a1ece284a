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

// What the system says in one of its files, or how that begins; empty where there is none.
struct SystemText {
    char text[256] = "";

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

// Containers see the machine's memory in the first two, and their own limit where cgroups, of either version, are mounted for
// them.
MemoryReport read_memory() {
    MemoryReport report;
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) report.physical = uint64_t(pages) * uint64_t(page_bytes);
    report.available = available_in(SystemText("/proc/meminfo").text);
    const uint64_t limit = limit_in(SystemText("/sys/fs/cgroup/memory.max").text);
    const uint64_t limit_1 = limit_in(SystemText("/sys/fs/cgroup/memory/memory.limit_in_bytes").text);
    report.limit = limit < limit_1 ? limit : limit_1;
    return report;
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

uint64_t limit_in(const char *text) {
    char *end = nullptr;
    const unsigned long long bytes = strtoull(text, &end, 10);
    return end == text ? unknown_bytes : bytes;
}

uint64_t available_in(const char *meminfo) {
    constexpr const char *label = "MemAvailable:";
    const char *line = strstr(meminfo, label);
    const uint64_t kib = line == nullptr ? unknown_bytes : limit_in(line + strlen(label));
    return kib > unknown_bytes / 1024 ? unknown_bytes : kib * 1024;
}

// A mapped file may leave memory when others need it; a copy may not.
bool has_room_for_copy(uint64_t bytes, const MemoryReport &memory) {
    const uint64_t all = memory.physical < memory.limit ? memory.physical : memory.limit;
    return all != unknown_bytes && bytes < all / 8 && bytes < memory.available / 2;
}

const void *read_into_huge_pages(int file, size_t bytes) {
    const bool may_copy = may_ask_for_huge_pages() && has_room_for_copy(bytes, read_memory());
    const size_t huge_page = may_copy ? huge_page_bytes() : 0;
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
