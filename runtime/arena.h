// The allocator of kernels: a stack over caller-owned memory, see `Arena` in runtime/kernel_abi.h.
//
// A kernel's allocations nest, so a stack with lazy reclaiming never fragments. Its peak depends on the kernel alone,
// so a shipped kernel needs exactly the bytes that the runner recorded. A header of one cache line precedes each block
// and keeps it aligned for the widest vectors.
#pragma once

#include <cstdint>

#include "runtime/kernel_abi.h"

namespace kiln {

inline constexpr size_t arena_alignment = 64;

struct alignas(arena_alignment) ArenaBlock {
    size_t below;  // offset of the block under this one
    bool free;
};
static_assert(sizeof(ArenaBlock) == arena_alignment);

// Whole cache lines. Where they would be too many for a size_t, the most that there are.
inline constexpr size_t align_up(size_t bytes) {
    const size_t rest = bytes % arena_alignment;
    if (rest == 0) return bytes;
    const size_t below = bytes - rest;
    return below > SIZE_MAX - arena_alignment ? below : below + arena_alignment;
}

// An arena over `bytes` of any alignment; up to 63 bytes are lost to it.
inline Arena make_arena(void *memory, size_t bytes) {
    const size_t skip = align_up(reinterpret_cast<uintptr_t>(memory)) - reinterpret_cast<uintptr_t>(memory);
    Arena arena;
    if (memory != nullptr && bytes > skip) {
        arena.base = static_cast<char *>(memory) + skip;
        arena.bytes = bytes - skip;
    }
    return arena;
}

// Answers null and sets `exhausted` if the block does not fit.
inline void *allocate(Arena &arena, size_t bytes) {
    const size_t room = arena.bytes - arena.used;
    if (room < sizeof(ArenaBlock) || bytes > room - sizeof(ArenaBlock)) {
        arena.exhausted = true;
        return nullptr;
    }
    auto *block = reinterpret_cast<ArenaBlock *>(arena.base + arena.used);
    block->below = arena.top;
    block->free = false;
    arena.top = arena.used;
    const size_t lines = align_up(bytes), rest = room - sizeof(ArenaBlock);
    arena.used += sizeof(ArenaBlock) + (lines < rest ? lines : rest);  // the last block may end before its alignment
    if (arena.used > arena.peak) arena.peak = arena.used;
    return block + 1;
}

inline void deallocate(Arena &arena, void *pointer) {
    if (pointer == nullptr) return;
    (static_cast<ArenaBlock *>(pointer) - 1)->free = true;
    while (arena.used > 0) {
        const auto *block = reinterpret_cast<const ArenaBlock *>(arena.base + arena.top);
        if (!block->free) break;
        arena.used = arena.top;
        arena.top = block->below;
    }
}

}  // namespace kiln
