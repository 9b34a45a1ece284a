// The part of Halide's runtime that kernels call; everything else of it is left out at compile time (no_runtime,
// no_asserts, no_bounds_query). The user context of every call is a KernelContext.
//
// The functions have default visibility, so that the runner's kernels, which are loaded objects, find them in its
// executable. A package makes them local: each has its own.
#include <HalideRuntime.h>

#include <atomic>

#include "runtime/arena.h"
#include "runtime/kernel_abi.h"
#include "runtime/subnormals_as_zeros.h"

#define KILN_CALLED_BY_KERNELS extern "C" __attribute__((visibility("default")))

namespace {

struct Loop {
    kiln::KernelContext *context;
    halide_task_t body;
    int min;
    uint8_t *closure;
    std::atomic<int> error{0};
};

constexpr int bad_thread = -1;

// After a failure the loop skips the remaining iterations: the output is lost anyway. A pool of the program's own may
// have more threads than the program says; they have no context and must not run.
void run_iteration(void *argument, int index, int thread) {
    Loop &loop = *static_cast<Loop *>(argument);
    if (loop.error.load(std::memory_order_relaxed) != 0) return;
    if (thread < 0 || thread >= loop.context->parallel.threads) {
        loop.error.store(bad_thread, std::memory_order_relaxed);
        return;
    }
    const kiln::SubnormalsAsZeros mode;  // threads of the program may have another
    const int code = loop.body(&loop.context->workers[thread], loop.min + index, loop.closure);
    if (code != 0) loop.error.store(code, std::memory_order_relaxed);
}

}  // namespace

KILN_CALLED_BY_KERNELS void *halide_malloc(void *user_context, size_t bytes) {
    auto &context = *static_cast<kiln::KernelContext *>(user_context);
    void *block = kiln::allocate(context.arena, bytes);
    if (block == nullptr && context.on_exhausted != nullptr) context.on_exhausted(context.arena, bytes);
    return block;
}

KILN_CALLED_BY_KERNELS void halide_free(void *user_context, void *block) {
    kiln::deallocate(static_cast<kiln::KernelContext *>(user_context)->arena, block);
}

KILN_CALLED_BY_KERNELS int halide_do_par_for(void *user_context, halide_task_t body, int min, int size,
                                             uint8_t *closure) {
    auto &context = *static_cast<kiln::KernelContext *>(user_context);
    if (context.workers != nullptr && context.parallel.run != nullptr && size > 1) {
        Loop loop{&context, body, min, closure};
        context.parallel.run(context.parallel.pool, size, run_iteration, &loop);
        return loop.error.load(std::memory_order_relaxed);
    }
    for (int i = 0; i < size; i++) {
        if (const int code = body(user_context, min + i, closure)) return code;
    }
    return 0;
}
