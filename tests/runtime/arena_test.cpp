#include "runtime/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace kiln {
namespace {

constexpr size_t header = sizeof(ArenaBlock);

struct Memory {
    explicit Memory(size_t size) : bytes(size), data(size + 2 * arena_alignment) {}
    size_t bytes;
    std::vector<char> data;
    char *aligned() { return reinterpret_cast<char *>(align_up(reinterpret_cast<uintptr_t>(data.data()))); }
    Arena arena() { return make_arena(aligned(), bytes); }
};

bool is_aligned(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer) % arena_alignment == 0; }

TEST(Arena, BlocksAreAlignedAndDistinct) {
    Memory memory(4096);
    Arena arena = memory.arena();
    std::vector<char *> blocks;
    for (const size_t bytes : {1, 64, 65, 0, 100}) {
        auto *block = static_cast<char *>(allocate(arena, bytes));
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(is_aligned(block));
        std::memset(block, static_cast<int>(blocks.size()), bytes);
        blocks.push_back(block);
    }
    EXPECT_EQ(blocks[1][63], 1);
    EXPECT_EQ(blocks[2][64], 2);
    EXPECT_EQ(blocks[4][99], 4);
}

TEST(Arena, SpaceComesBackInAnyOrderOfFreeing) {
    const std::vector<std::vector<int>> orders = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}};
    for (const std::vector<int> &order : orders) {
        Memory memory(4096);
        Arena arena = memory.arena();
        void *blocks[3];
        for (void *&block : blocks) block = allocate(arena, 200);
        const size_t full = arena.used;
        for (const int i : order) deallocate(arena, blocks[i]);
        EXPECT_EQ(arena.used, 0u);
        EXPECT_EQ(arena.peak, full);
        EXPECT_FALSE(arena.exhausted);
    }
}

TEST(Arena, AFreedTopIsReusedAndABuriedBlockIsNot) {
    Memory memory(4096);
    Arena arena = memory.arena();
    void *bottom = allocate(arena, 64), *top = allocate(arena, 64);
    deallocate(arena, top);
    EXPECT_EQ(allocate(arena, 64), top);
    deallocate(arena, bottom);
    const size_t used = arena.used;
    EXPECT_NE(allocate(arena, 64), bottom);
    EXPECT_GT(arena.used, used);
}

TEST(Arena, ItsPeakIsEnoughForTheSameKernel) {
    const auto kernel = [](Arena &arena) {
        void *a = allocate(arena, 1000);
        void *b = allocate(arena, 37);
        deallocate(arena, a);
        void *c = allocate(arena, 500);
        deallocate(arena, b);
        deallocate(arena, c);
    };
    Memory roomy(1 << 16);
    Arena first = roomy.arena();
    kernel(first);
    Memory exact(first.peak);
    Arena second = exact.arena();
    kernel(second);
    EXPECT_FALSE(second.exhausted);
    Memory tight(first.peak - arena_alignment);
    Arena third = tight.arena();
    kernel(third);
    EXPECT_TRUE(third.exhausted);
}

TEST(Arena, RefusesWhatDoesNotFit) {
    struct Row {
        size_t memory, request;
        bool fits;
    };
    const Row rows[] = {
        {0, 0, false},
        {header - 1, 0, false},
        {header, 0, true},
        {header, 1, false},
        {header + 100, 100, true},
        {header + 100, 101, false},
        {4096, size_t(-1), false},
        {4096, size_t(-1) - header, false},
    };
    for (const Row &row : rows) {
        Memory memory(row.memory);
        Arena arena = memory.arena();
        EXPECT_EQ(allocate(arena, row.request) != nullptr, row.fits) << row.memory << " " << row.request;
        EXPECT_EQ(arena.exhausted, !row.fits);
        EXPECT_LE(arena.used, arena.bytes);
    }
}

TEST(Arena, TakesMemoryOfAnyAlignment) {
    Memory memory(4096);
    for (const size_t offset : {0, 1, 63}) {
        Arena arena = make_arena(memory.aligned() + offset, 1024);
        EXPECT_TRUE(is_aligned(arena.base));
        EXPECT_LE(arena.base + arena.bytes, memory.aligned() + offset + 1024);
        EXPECT_GE(arena.bytes, 1024 - (arena_alignment - 1));
    }
    EXPECT_EQ(make_arena(memory.aligned() + 1, 63).bytes, 0u);
    EXPECT_EQ(make_arena(nullptr, 100).bytes, 0u);
}

TEST(Arena, FreeingNullDoesNothing) {
    Arena arena;
    deallocate(arena, nullptr);
    EXPECT_EQ(arena.used, 0u);
}

}  // namespace
}  // namespace kiln
