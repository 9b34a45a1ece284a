// The parallel loop of a kernel, on the threads of its call.
//
// Every kernel's loop passes here, so that none forgets what a pool of the program's own may do: have more threads than it
// announces, which have no context and must not run, and threads with another mode of arithmetic.
//
// Part of what ships with kernels: no C++ library.
#pragma once

#include <stdint.h>

#include <atomic>

#include "runtime/kernel_abi.h"
#include "runtime/subnormals_as_zeros.h"

namespace kiln {

// The loop of a call without threads: ParallelFor::run.
inline void run_in_order(void *, int count, ParallelTask task, void *argument) {
    for (int i = 0; i < count; i++) task(argument, i, 0);
}

// As Halide has it: 0, or an error. `context` is the thread's.
using LoopBody = int (*)(void *context, int index, uint8_t *closure);

struct ParallelLoop {
    static constexpr int bad_thread = -1;

    const KernelContext &context;
    LoopBody body;
    int first;
    uint8_t *closure;
    std::atomic<int> error{0};

    // After a failure the loop skips the remaining iterations: the output is lost anyway.
    static void run_iteration(void *argument, int index, int thread) {
        auto &loop = *static_cast<ParallelLoop *>(argument);
        if (loop.error.load(std::memory_order_relaxed) != 0) return;
        if (thread < 0 || thread >= loop.context.parallel.threads) {
            loop.error.store(bad_thread, std::memory_order_relaxed);
            return;
        }
        const SubnormalsAsZeros mode;
        const int code = loop.body(&loop.context.workers[thread], loop.first + index, loop.closure);
        if (code != 0) loop.error.store(code, std::memory_order_relaxed);
    }
};

// Runs the body for each index of [first, first + count). Answers 0, or the error of an iteration. Precondition: the context
// has workers and a loop function.
inline int run_parallel(const KernelContext &context, LoopBody body, int first, int count, uint8_t *closure) {
    ParallelLoop loop{context, body, first, closure};
    context.parallel.run(context.parallel.pool, count, ParallelLoop::run_iteration, &loop);
    return loop.error.load(std::memory_order_relaxed);
}

}  // namespace kiln
