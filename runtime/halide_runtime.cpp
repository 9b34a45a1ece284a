// The part of Halide's runtime that kernels call; everything else of it is left out at compile time (no_runtime,
// no_asserts, no_bounds_query). The user context of every call is a KernelContext.
//
// The functions have default visibility, so that the runner's kernels, which are loaded objects, find them in its
// executable. A package makes them local: each has its own.
#include <HalideRuntime.h>

#include "runtime/arena.h"
#include "runtime/kernel_abi.h"
#include "runtime/parallel_loop.h"

#define KILN_CALLED_BY_KERNELS extern "C" __attribute__((visibility("default")))

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
        return kiln::run_parallel(context, body, min, size, closure);
    }
    for (int i = 0; i < size; i++) {
        if (const int code = body(user_context, min + i, closure)) return code;
    }
    return 0;
}
