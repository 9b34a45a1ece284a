#include "tuner/runner/kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/arena.h"
#include "runtime/dispatch.h"
#include "runtime/parallel_loop.h"
#include "tuner/runner/crash.h"

namespace kiln {

namespace {

ArgvFunction find(void *library, const char *symbol) {
    return reinterpret_cast<ArgvFunction>(dlsym(library, fmt::format("{}_argv", symbol).c_str()));
}

size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

void LoadedKernel::Close::operator()(void *library) const { dlclose(library); }

Result<LoadedKernel> LoadedKernel::load(const std::string &shared_object) {
    enabled_cpu_features();  // Linux gives tile registers to processes that ask for them
    LoadedKernel kernel;
    kernel.library_.reset(dlopen(shared_object.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!kernel.library_) {
        return bad_input(fmt::format("the kernel cannot be loaded: {}", dlerror()));
    }
    kernel.compute_ = find(kernel.library_.get(), compute_symbol);
    kernel.pack_ = find(kernel.library_.get(), pack_symbol);
    kernel.prepare_ = find(kernel.library_.get(), prepare_symbol);
    if (!kernel.compute_) {
        return bad_input(fmt::format("{} has no function {}_argv", shared_object, compute_symbol));
    }
    return kernel;
}

CallContext::CallContext(int threads, ThreadPool *pool)
    : pool_(pool, &ThreadPool::destroy), workers_(size_t(threads)) {}

Result<std::unique_ptr<CallContext>> CallContext::create(int threads, WorkspaceSize workspace) {
    ThreadPool *pool = threads > 1 ? ThreadPool::create(threads) : nullptr;
    if (threads > 1 && !pool) {
        return environment_error(fmt::format("cannot start {} threads", threads));
    }
    std::unique_ptr<CallContext> call(new CallContext(threads, pool));
    const auto give_arena = [&](const char *name, size_t bytes, KernelContext &context) -> Status {
        auto memory = GuardedBuffer::allocate({name, whole_lines(bytes), 64, Placement::end_at_guard});
        if (!memory) {
            return memory.error();
        }
        context.arena = make_arena(memory->data().data(), memory->data().size());
        context.on_exhausted = report_exhausted;
        call->memory_.push_back(std::move(*memory));
        return {};
    };
    if (Status status = give_arena("the workspace", workspace.caller, call->context_); !status) {
        return status.error();
    }
    for (KernelContext &worker : call->workers_) {
        if (Status status = give_arena("a thread's workspace", workspace.per_thread, worker); !status) {
            return status.error();
        }
    }
    call->context_.workers = call->workers_.data();
    call->context_.parallel = call->pool_ ? call->pool_->parallel_for() : ParallelFor{run_in_order, nullptr, 1};
    return call;
}

WorkspaceSize CallContext::peak() const {
    WorkspaceSize peak{whole_lines(context_.arena.peak), 0};
    for (const KernelContext &worker : workers_) {
        peak.per_thread = std::max(peak.per_thread, whole_lines(worker.arena.peak));
    }
    return peak;
}

}  // namespace kiln
