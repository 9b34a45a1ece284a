// Weights in huge pages: the bytes of the file, in memory that no longer depends on it.
#include "runtime/network/huge_pages.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/runtime/fake_network.h"

namespace kiln {
namespace {

std::vector<char> some_bytes(size_t count) {
    std::vector<char> bytes(count);
    uint32_t x = 1;
    for (char &byte : bytes) byte = char((x = x * 1664525 + 1013904223) >> 24);
    return bytes;
}

// A file in memory, which the system removes.
class File {
public:
    explicit File(const std::vector<char> &bytes) : descriptor_(memfd_create("weights", MFD_CLOEXEC)) {
        for (size_t done = 0; done < bytes.size();) {
            const ssize_t count = write(descriptor_, bytes.data() + done, bytes.size() - done);
            if (count <= 0) return;
            done += size_t(count);
        }
    }
    File(const File &) = delete;
    ~File() { close(descriptor_); }

    int descriptor() const { return descriptor_; }
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    void cut() const { ASSERT_EQ(ftruncate(descriptor_, 0), 0); }

private:
    int descriptor_;
};

bool system_gives_huge_pages() {
    std::string text;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), text);
    return text.find("[always]") != std::string::npos || text.find("[madvise]") != std::string::npos;
}

// The flags of the mapping with this address (proc(5), VmFlags): "hg" is one that is to have huge pages, "wr" one that
// may be written.
std::string flags_of(const void *data) {
    std::ifstream mappings("/proc/self/smaps");
    bool is_here = false;
    for (std::string line; std::getline(mappings, line);) {
        unsigned long long begin, end;
        if (std::sscanf(line.c_str(), "%llx-%llx ", &begin, &end) == 2) {
            is_here = begin <= uintptr_t(data) && uintptr_t(data) < end;
        } else if (is_here && line.starts_with("VmFlags:")) {
            return line + " ";
        }
    }
    return "";
}

size_t mapped_bytes() {
    std::ifstream pages("/proc/self/statm");
    size_t count = 0;
    pages >> count;
    return count * size_t(sysconf(_SC_PAGESIZE));
}

TEST(HugePages, HoldALargeFileOfWeights) {
    if (!system_gives_huge_pages()) GTEST_SKIP() << "this system gives no huge pages";
    const FakeNetwork network;
    for (size_t bytes : {min_bytes_in_huge_pages, min_bytes_in_huge_pages + 1, min_bytes_in_huge_pages + 12345678}) {
        const std::vector<char> expected = some_bytes(bytes);
        const File file(expected);
        kiln_weights weights;
        ASSERT_EQ(kiln_load_weights(*network, file.path().c_str(), &weights).code, KILN_OK);
        ASSERT_EQ(weights.bytes, bytes);
        const std::string flags = flags_of(weights.data);
        EXPECT_NE(flags.find(" hg "), std::string::npos) << flags;
        EXPECT_EQ(flags.find(" wr "), std::string::npos) << flags;
        file.cut();
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<const char *>(weights.data))) << bytes;
        kiln_unmap_weights(*network, &weights);
        EXPECT_EQ(weights.data, nullptr);
    }
}

TEST(HugePages, AreForLargeFilesOnly) {
    const FakeNetwork network;
    const std::vector<char> expected = some_bytes(min_bytes_in_huge_pages - 1);
    const File file(expected);
    kiln_weights weights;
    ASSERT_EQ(kiln_load_weights(*network, file.path().c_str(), &weights).code, KILN_OK);
    EXPECT_EQ(flags_of(weights.data).find(" hg "), std::string::npos);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), static_cast<const char *>(weights.data)));
    kiln_unmap_weights(*network, &weights);
}

TEST(HugePages, AreForWhoAsksForThem) {
    const FakeNetwork network;
    const File file(some_bytes(min_bytes_in_huge_pages));
    kiln_weights weights;
    ASSERT_EQ(kiln_map_weights(*network, file.path().c_str(), &weights).code, KILN_OK);
    EXPECT_EQ(flags_of(weights.data).find(" hg "), std::string::npos);
    kiln_unmap_weights(*network, &weights);
    kiln_network older = **network;  // a library of before
    older.struct_size = offsetof(kiln_network, load_weights), older.load_weights = nullptr;
    ASSERT_EQ(kiln_load_weights(&older, file.path().c_str(), &weights).code, KILN_OK);
    EXPECT_EQ(flags_of(weights.data).find(" hg "), std::string::npos);
    kiln_unmap_weights(*network, &weights);
    EXPECT_EQ(kiln_load_weights(nullptr, "x", &weights).code, KILN_NULL_ARGUMENT);
}

TEST(HugePages, AllMemoryIsGivenBack) {
    if (!system_gives_huge_pages()) GTEST_SKIP() << "this system gives no huge pages";
    const size_t bytes = min_bytes_in_huge_pages + 54321;
    const File file(some_bytes(bytes));
    const size_t before = mapped_bytes();
    for (int i = 0; i < 20; i++) {
        const void *data = read_into_huge_pages(file.descriptor(), bytes);
        ASSERT_NE(data, nullptr);
        munmap(const_cast<void *>(data), bytes);
        EXPECT_EQ(read_into_huge_pages(file.descriptor(), bytes + 1), nullptr) << "the file ends before";
    }
    EXPECT_LT(mapped_bytes(), before + bytes);
}

TEST(HugePages, AreForASmallPartOfWhatTheProcessMayHave) {
    constexpr uint64_t mib = uint64_t{1} << 20;
    const struct {
        const char *what;
        MemoryReport memory;
        uint64_t bytes;
        bool has_room;
    } rows[] = {
        {"a machine", {1024 * mib, 1000 * mib}, 127 * mib, true},
        {"an eighth of it", {1024 * mib, 1000 * mib}, 128 * mib, false},
        {"a container", {65536 * mib, 60000 * mib, 512 * mib}, 63 * mib, true},
        {"an eighth of a container", {65536 * mib, 60000 * mib, 512 * mib}, 64 * mib, false},
        {"a limit that is none", {1024 * mib, 1000 * mib, uint64_t{1} << 63}, 127 * mib, true},
        {"a full machine", {65536 * mib, 200 * mib}, 100 * mib, false},
        {"one that is not quite full", {65536 * mib, 201 * mib}, 100 * mib, true},
        {"a system that says the limit alone", {unknown_bytes, unknown_bytes, 1024 * mib}, 127 * mib, true},
        {"a system that says nothing", {}, 1, false},
    };
    for (const auto &row : rows) EXPECT_EQ(has_room_for_copy(row.bytes, row.memory), row.has_room) << row.what;
}

TEST(HugePages, LimitsAreNumbersOrNone) {
    const std::pair<const char *, uint64_t> limits[] = {{"max\n", unknown_bytes},
                                                        {"", unknown_bytes},
                                                        {"0\n", 0},
                                                        {"536870912\n", 536870912},
                                                        {"9223372036854771712\n", 9223372036854771712u}};
    for (const auto &[text, bytes] : limits) EXPECT_EQ(limit_in(text), bytes) << text;
    const std::pair<const char *, uint64_t> available[] = {
        {"MemTotal:       16384 kB\nMemFree:     10 kB\nMemAvailable:   4096 kB\n", 4 << 20},
        {"MemTotal:       16384 kB\nMemFree:     10 kB\n", unknown_bytes},
        {"MemAvailable:", unknown_bytes},
        {"MemAvailable: 18446744073709551615 kB", unknown_bytes},
        {"", unknown_bytes}};
    for (const auto &[text, bytes] : available) EXPECT_EQ(available_in(text), bytes) << text;
}

TEST(HugePages, WhatCannotBeReadIsRefused) {
    const std::vector<char> bytes = some_bytes(min_bytes_in_huge_pages);
    const File file(bytes);
    EXPECT_EQ(read_into_huge_pages(-1, bytes.size()), nullptr);
    EXPECT_EQ(read_into_huge_pages(file.descriptor(), size_t{1} << 62), nullptr) << "more than the machine has";
    EXPECT_EQ(read_into_huge_pages(file.descriptor(), 4096), nullptr) << "no huge page is so small";
    const int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    EXPECT_EQ(read_into_huge_pages(folder, bytes.size()), nullptr);
    close(folder);
}

}  // namespace
}  // namespace kiln
