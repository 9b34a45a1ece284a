// The contexts that kernels get (KernelContext), with their arenas, in the caller's memory.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include "runtime/arena.h"
#include "runtime/byte_range.h"
#include "runtime/kiln.h"
#include "runtime/parallel_loop.h"
#include "runtime/thread_pool.h"

namespace kiln {

// Bytes for the calling thread and for each thread of a parallel loop; whole cache lines.
struct ArenaSizes {
    size_t caller = 0, per_thread = 0;
};

inline bool is_valid_thread_count(int threads) { return threads >= 1 && threads <= ThreadPool::max_threads; }

// Null: the calling thread alone.
inline bool is_valid(const kiln_parallel *parallel) {
    return parallel == nullptr || (parallel->run != nullptr && is_valid_thread_count(parallel->threads));
}
inline int thread_count(const kiln_parallel *parallel) { return parallel != nullptr ? parallel->threads : 1; }

// Bytes of the contexts, from an aligned address on, or no_such_size. Precondition: is_valid_thread_count(threads).
inline size_t contexts_bytes(const ArenaSizes &arenas, int threads) {
    size_t bytes = 0;
    const bool overflows = __builtin_add_overflow(sizeof(KernelContext), arenas.per_thread, &bytes) ||
                           __builtin_mul_overflow(bytes, static_cast<size_t>(threads), &bytes) ||
                           __builtin_add_overflow(bytes, arenas.caller, &bytes);
    return overflows ? no_such_size : bytes;
}

// The calling thread's context. `memory` is aligned for an arena and has contexts_bytes() for the others: contexts of the
// threads, the arena of this thread, then an arena for each thread.
inline KernelContext make_contexts(char *memory, const ArenaSizes &arenas, const kiln_parallel *parallel) {
    const int threads = thread_count(parallel);
    const auto take = [&](size_t bytes) {
        char *taken = memory;
        memory += bytes;
        return taken;
    };
    auto *workers = reinterpret_cast<KernelContext *>(take(sizeof(KernelContext) * threads));
    KernelContext context;
    context.parallel = parallel != nullptr ? ParallelFor{parallel->run, parallel->pool, parallel->threads}
                                           : ParallelFor{run_in_order, nullptr, 1};
    context.workers = workers;
    context.arena = make_arena(take(arenas.caller), arenas.caller);
    for (int i = 0; i < threads; i++) {
        workers[i] = KernelContext{};
        workers[i].arena = make_arena(take(arenas.per_thread), arenas.per_thread);
    }
    return context;
}

}  // namespace kiln
