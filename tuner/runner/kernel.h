// A kernel loaded into this process, and what its calls are given: workspace arenas and threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/kernel_abi.h"
#include "runtime/thread_pool.h"
#include "tuner/runner/guarded_buffer.h"
#include "workload/result.h"

namespace kiln {

class LoadedKernel {
public:
    static Result<LoadedKernel> load(const std::string &shared_object);

    ArgvFunction compute() const { return compute_; }
    ArgvFunction pack() const { return pack_; }        // null where the algorithm has none
    ArgvFunction prepare() const { return prepare_; }  // null where the algorithm has none

private:
    struct Close {
        void operator()(void *library) const;
    };
    std::unique_ptr<void, Close> library_;
    ArgvFunction compute_ = nullptr, pack_ = nullptr, prepare_ = nullptr;
};

struct WorkspaceSize {
    size_t caller = 0, per_thread = 0;
};

// The context of calls with a number of threads. Parallel loops always run on the workers' arenas, also with one
// thread, so that what the calling thread and what each worker needs does not depend on their number.
class CallContext {
public:
    static Result<std::unique_ptr<CallContext>> create(int threads, WorkspaceSize workspace);

    KernelContext &context() { return context_; }
    WorkspaceSize peak() const;  // of all calls so far, rounded up to whole cache lines

private:
    CallContext(int threads, ThreadPool *pool);

    std::vector<GuardedBuffer> memory_;
    std::unique_ptr<ThreadPool, decltype(&ThreadPool::destroy)> pool_;  // none for one thread
    std::vector<KernelContext> workers_;
    KernelContext context_;
};

}  // namespace kiln
