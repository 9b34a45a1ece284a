#include "runtime/thread_pool.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <initializer_list>
#include <new>

#include "runtime/parallel_loop.h"
#include "runtime/subnormals_as_zeros.h"

namespace kiln {
namespace {

constexpr uint64_t open_bit = 1 << 15;
constexpr uint64_t inside_mask = open_bit - 1;
constexpr int loop_shift = 16;

// Layers follow each other within microseconds: about 50 us of spinning bridges the gap at the price of a system call.
constexpr int spins_before_sleep = 2000;
constexpr int spins_before_yield = 2000;

void pause_cpu() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Pieces of a share are a sixteenth of what is left of it: few enough that short iterations do not wait for the pool, and
// the last ones are so short that all threads end at about the same time.
constexpr uint32_t pieces_of_what_is_left = 16;

struct Piece {
    uint32_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; }
};

uint64_t packed(const Piece &piece) { return uint64_t(piece.begin) << 32 | piece.end; }

enum class Side { first, last };

// Threads see what the iterations work on when they join the loop; the counter itself orders nothing.
Piece take(std::atomic<uint64_t> *share, Side side) {
    uint64_t seen = share->load(std::memory_order_relaxed);
    for (;;) {
        const Piece left{static_cast<uint32_t>(seen >> 32), static_cast<uint32_t>(seen)};
        if (left.is_empty()) return {};
        const uint32_t size = left.end - left.begin;
        const uint32_t taken = size > pieces_of_what_is_left ? size / pieces_of_what_is_left : 1;
        const uint32_t cut = side == Side::first ? left.begin + taken : left.end - taken;
        const Piece first{left.begin, cut}, last{cut, left.end};
        if (share->compare_exchange_weak(seen, packed(side == Side::first ? last : first), std::memory_order_relaxed)) {
            return side == Side::first ? first : last;
        }
    }
}

constexpr size_t mark_bytes = sizeof(std::atomic<uint64_t>);  // of a page of its own

// Memory that is 1 here and 0 in every child. Looking at it costs a load, and asking for the process id a system call.
std::atomic<uint64_t> *make_mark() {
#ifdef MADV_WIPEONFORK
    void *page = mmap(nullptr, mark_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return nullptr;
    if (madvise(page, mark_bytes, MADV_WIPEONFORK) == 0) return new (page) std::atomic<uint64_t>(1);
    munmap(page, mark_bytes);
#endif
    return nullptr;
}

}  // namespace

ThreadPool::ThreadPool(Member *members) : members_(members), owner_(getpid()), mark_(make_mark()) {}

bool ThreadPool::is_in_child_of_fork() const {
    return mark_ != nullptr ? mark_->load(std::memory_order_relaxed) == 0 : getpid() != owner_;
}

ThreadPool *ThreadPool::create(int threads) {
    if (threads < 1 || threads > max_threads) return nullptr;
    auto *members = static_cast<Member *>(aligned_alloc(alignof(Member), sizeof(Member) * threads));
    void *memory = aligned_alloc(alignof(ThreadPool), sizeof(ThreadPool));
    if (members == nullptr || memory == nullptr) {
        free(members);
        free(memory);
        return nullptr;
    }
    auto *pool = new (memory) ThreadPool(members);
    for (int t = 0; t < threads; t++) new (&members[t]) Member{{0}, pool, t, {}};
    if (!pool->start(threads - 1)) {
        destroy(pool);
        return nullptr;
    }
    return pool;
}

void ThreadPool::destroy(ThreadPool *pool) {
    if (pool == nullptr) return;
    pool->~ThreadPool();
    free(pool);
}

ThreadPool::~ThreadPool() {
    if (!is_in_child_of_fork()) stop_threads();
    if (mark_ != nullptr) munmap(mark_, mark_bytes);
    free(members_);
}

void ThreadPool::stop_threads() {
    pthread_mutex_lock(&mutex_);
    stop_.store(true);
    pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&mutex_);
    for (int t = 1; t <= started_; t++) pthread_join(members_[t].handle, nullptr);
    pthread_cond_destroy(&wake_);
    pthread_mutex_destroy(&mutex_);
}

// Signals are the program's business: its handlers must not run on these threads. But a fault of the thread itself is told to
// this thread alone, and where it is blocked the system ends the program without asking a handler.
bool ThreadPool::start(int workers) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&blocked, fault);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    while (started_ < workers) {
        Member &member = members_[started_ + 1];
        const auto entry = [](void *argument) -> void * {
            auto *self = static_cast<Member *>(argument);
            self->pool->work(self->thread);
            return nullptr;
        };
        if (pthread_create(&member.handle, nullptr, entry, &member) != 0) break;
        started_++;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return started_ == workers;
}

// Where there are fewer iterations than threads, the first threads get one each: the caller is there in any case.
void ThreadPool::share_out(int64_t count) {
    const int64_t shares = count < threads() ? count : threads();
    for (int t = 0; t < threads(); t++) {
        const auto begin = static_cast<uint32_t>(t < shares ? count * t / shares : count);
        const auto end = static_cast<uint32_t>(t < shares ? count * (t + 1) / shares : count);
        members_[t].left.store(packed({begin, end}), std::memory_order_relaxed);
    }
}

void ThreadPool::run_iterations(int thread) {
    const auto run_all = [&](Member &member, Side side) {
        for (Piece piece; !(piece = take(&member.left, side)).is_empty();) {
            for (uint32_t i = piece.begin; i < piece.end; i++) task_(argument_, static_cast<int>(i), thread);
        }
    };
    run_all(members_[thread], Side::first);
    for (int other = 1; other < threads(); other++) run_all(members_[(thread + other) % threads()], Side::last);
}

void ThreadPool::run(int count, ParallelTask task, void *argument) {
    if (count <= 1 || started_ == 0 || is_in_child_of_fork() || busy_.exchange(true, std::memory_order_acquire)) {
        run_in_order(nullptr, count, task, argument);
        return;
    }
    task_ = task;
    argument_ = argument;
    share_out(count);
    const uint64_t loop = (gate_.load(std::memory_order_relaxed) >> loop_shift) + 1;
    gate_.store(loop << loop_shift | open_bit);
    if (sleepers_.load() > 0) {
        pthread_mutex_lock(&mutex_);
        pthread_cond_broadcast(&wake_);
        pthread_mutex_unlock(&mutex_);
    }
    run_iterations(0);
    gate_.fetch_and(~open_bit, std::memory_order_relaxed);
    for (int spins = 0; (gate_.load(std::memory_order_acquire) & inside_mask) != 0; spins++) {
        if (spins < spins_before_yield) {
            pause_cpu();
        } else {
            sched_yield();
        }
    }
    busy_.store(false, std::memory_order_release);
}

// Answers the gate of a loop newer than `seen`, or `seen` itself when the pool ends.
uint64_t ThreadPool::wait_for_loop(uint64_t seen) {
    const auto newer = [&](uint64_t gate) { return gate >> loop_shift != seen >> loop_shift; };
    for (int spins = 0; spins < spins_before_sleep; spins++) {
        const uint64_t gate = gate_.load(std::memory_order_acquire);
        if (newer(gate)) return gate;
        if (stop_.load(std::memory_order_relaxed)) return seen;
        pause_cpu();
    }
    // Either this thread sees the new gate, or the caller, which writes the gate first, sees a sleeper: both orders are
    // sequentially consistent.
    pthread_mutex_lock(&mutex_);
    sleepers_.fetch_add(1);
    uint64_t gate;
    while (!newer(gate = gate_.load()) && !stop_.load()) pthread_cond_wait(&wake_, &mutex_);
    sleepers_.fetch_sub(1);
    pthread_mutex_unlock(&mutex_);
    return gate;
}

void ThreadPool::work(int thread) {
    const SubnormalsAsZeros mode;  // once, not for each iteration
    uint64_t seen = 0;
    for (;;) {
        uint64_t gate = wait_for_loop(seen);
        if (stop_.load(std::memory_order_relaxed)) return;
        seen = gate;
        bool joined = false;
        while ((gate & open_bit) != 0 && gate >> loop_shift == seen >> loop_shift && !joined) {
            joined = gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire);
        }
        if (!joined) continue;
        run_iterations(thread);
        gate_.fetch_sub(1, std::memory_order_release);
    }
}

ParallelFor ThreadPool::parallel_for() {
    const auto run = [](void *pool, int count, ParallelTask task, void *argument) {
        static_cast<ThreadPool *>(pool)->run(count, task, argument);
    };
    return {run, this, threads()};
}

}  // namespace kiln
