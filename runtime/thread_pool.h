// A pool of threads for the parallel loops of kernels. The caller of a loop works too, as thread 0, so a pool of n
// threads owns n - 1.
//
// Each thread has a share of consecutive iterations, the same of each loop with that many. So what a thread wrote in one
// loop, it mostly reads in the next: it finds it in its own caches. A thread that is done takes iterations from the ends of
// the others' shares. The caller does not wait for threads that never joined a loop, so a thread that the system does not
// schedule costs nothing. A loop that finds the pool busy with another caller's loop does not wait for it but runs on its
// caller's thread alone. A thread that finds nothing to do for a while sleeps; waking it takes a lock.
//
// After fork() the child has no thread of the pool, and another thread may have held its lock. The child's copy of the
// pool therefore runs loops on the calling thread alone, and destroying it only frees memory.
//
// Part of what ships with kernels: no C++ library, only pthreads.
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <atomic>

#include "runtime/kernel_abi.h"

namespace kiln {

class ThreadPool {
public:
    static constexpr int max_threads = 1024;

    // Answers null if `threads` is not 1 to max_threads, or the system refuses memory or threads.
    static ThreadPool *create(int threads);
    static void destroy(ThreadPool *pool);  // null is allowed; no loop may be running

    int threads() const { return started_ + 1; }
    void run(int count, ParallelTask task, void *argument);

    // The pool as a kernel's context wants it.
    ParallelFor parallel_for();

    ThreadPool(const ThreadPool &) = delete;
    ThreadPool &operator=(const ThreadPool &) = delete;

private:
    // A thread, the caller of a loop as the first one, in a cache line of its own.
    struct alignas(64) Member {
        std::atomic<uint64_t> left;  // of its share: first iteration << 32 | end
        ThreadPool *pool;
        int thread;
        pthread_t handle;  // not of the caller
    };

    explicit ThreadPool(Member *members);
    ~ThreadPool();
    bool start(int workers);
    bool is_in_child_of_fork() const;
    void stop_threads();
    void work(int thread);
    void share_out(int64_t count);
    void run_iterations(int thread);
    uint64_t wait_for_loop(uint64_t seen);

    // The loop that runs. It is written only while the gate is closed and nobody is inside.
    ParallelTask task_ = nullptr;
    void *argument_ = nullptr;

    // Number of the loop << 16 | open << 15 | threads inside besides the caller. A thread joins by adding itself while
    // the gate is open, and so never sees half a loop.
    alignas(64) std::atomic<uint64_t> gate_{0};
    std::atomic<bool> busy_{false};
    std::atomic<bool> stop_{false};

    // Threads that found nothing to do for a while sleep here.
    std::atomic<int> sleepers_{0};
    pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;

    Member *members_;
    int started_ = 0;
    pid_t owner_;                            // the process that has the threads
    std::atomic<uint64_t> *mark_ = nullptr;  // not 0 there; the kernel wipes its page in a child. Null: not supported
};

}  // namespace kiln
