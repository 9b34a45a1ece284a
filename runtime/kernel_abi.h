// The form of a built kernel object and what it expects of its caller. This is the contract between the generator, the
// runner that measures a kernel and the package that ships it. It is the same for all algorithms.
//
// Every object defines the symbol kiln_compute, and kiln_pack or kiln_prepare where its algorithm has them; a package
// renames them. Each is called through Halide's argv form with the operands of its workload in order:
//   compute   &context, input, packed (or kernel, where there is no pack), what else the workload has, output
//             (the order is that of tensor_arguments in runtime/kernel_table.h)
//             gradients: the two operands in the order of the definition (dy, kernel -> dx; x, dy -> dk)
//             transforms: the one operand, then output; they have no pack and no prepare
//   pack      &context, kernel, packed
//   prepare   &context, input, prepared
// where &context is the address of a `KernelContext *` and every other entry a `halide_buffer_t *`. All extents and
// strides are compiled in: a kernel reads nothing but the host pointers. Packed weights are opaque bytes.
// A kernel returns 0, or an error code of Halide's that a caller reports and never interprets.
//
// If there is a prepare, compute takes `prepared` in the place of its first operand.
//
// Objects are compiled without Halide's runtime. The few functions of it that they call are in
// runtime/halide_runtime.cpp; they find everything in the context, so there are no globals, no locks and no malloc.
// Halide's no_asserts also drops the check of halide_malloc's answer, so a kernel must get a workspace of the size that
// was measured for it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kiln {

inline constexpr const char *compute_symbol = "kiln_compute";
inline constexpr const char *pack_symbol = "kiln_pack";
inline constexpr const char *prepare_symbol = "kiln_prepare";

using ArgvFunction = int (*)(void **args);

// A stack allocator over caller-owned memory (runtime/arena.h). Blocks are 64-byte aligned and freed in any order;
// space is reclaimed when the topmost blocks are free.
struct Arena {
    char *base = nullptr;
    size_t bytes = 0;
    size_t used = 0;
    size_t top = 0;          // offset of the topmost block, meaningful while used > 0
    size_t peak = 0;         // largest `used` so far: what the runner records
    bool exhausted = false;  // an allocation did not fit; the caller of the kernel must discard its output
};

// Runs task(argument, index, thread) for every index in [0, count), thread in [0, threads), each thread one task at a
// time; returns when all are done.
using ParallelTask = void (*)(void *argument, int index, int thread);
struct ParallelFor {
    void (*run)(void *pool, int count, ParallelTask task, void *argument) = nullptr;
    void *pool = nullptr;
    int threads = 1;
};

// The user_context of a call: the arena of the calling thread and, for parallel loops, how to run them and a context
// for each thread. Without workers, parallel loops run in order on this context: those inside of a parallel loop do, since
// the threads' contexts have none. A loop of one iteration is no parallel one: it gets this context with its workers.
// Contexts of neighbouring threads lie in cache lines of their own.
struct alignas(64) KernelContext {
    Arena arena;
    ParallelFor parallel;
    KernelContext *workers = nullptr;                                 // `parallel.threads` entries
    void (*on_exhausted)(const Arena &, size_t requested) = nullptr;  // the runner's hook: report and exit
};

}  // namespace kiln
