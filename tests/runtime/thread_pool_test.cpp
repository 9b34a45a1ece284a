#include "runtime/thread_pool.h"

#include <HalideRuntime.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/arena.h"

namespace kiln {
namespace {

struct Destroy {
    void operator()(ThreadPool *pool) const { ThreadPool::destroy(pool); }
};
using Pool = std::unique_ptr<ThreadPool, Destroy>;

// Counts how often each index ran, and on how many threads at once each thread number was seen.
struct Record {
    explicit Record(int count, int threads) : runs(count), inside(threads) {}
    std::vector<std::atomic<int>> runs, inside;
    std::atomic<bool> shared_thread{false};
    std::atomic<bool> bad_thread{false};
};

void record(void *argument, int index, int thread) {
    auto &r = *static_cast<Record *>(argument);
    if (thread < 0 || thread >= static_cast<int>(r.inside.size())) {
        r.bad_thread = true;
        return;
    }
    if (r.inside[thread]++ != 0) r.shared_thread = true;
    r.runs[index]++;
    r.inside[thread]--;
}

TEST(ThreadPool, RunsEachIndexOnceOnOneThreadAtATime) {
    for (const int threads : {1, 2, 3, 8}) {
        const Pool pool(ThreadPool::create(threads));
        ASSERT_TRUE(pool);
        EXPECT_EQ(pool->threads(), threads);
        for (const int count : {0, 1, 2, 7, 100, 5000}) {
            for (int repeat = 0; repeat < (count > 100 ? 10 : 200); repeat++) {
                Record r(count, threads);
                pool->run(count, record, &r);
                for (const auto &runs : r.runs) ASSERT_EQ(runs, 1);
                ASSERT_FALSE(r.shared_thread);
                ASSERT_FALSE(r.bad_thread);
            }
        }
    }
}

// Runs `body` in a child of fork() and answers its exit status; a child that hangs is ended by a signal.
int status_in_child(const std::function<int()> &body) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
}

// A loop of 100 indices in a child: each ran once, on the calling thread.
int run_in_child(ThreadPool *pool) {
    Record r(100, 1);
    pool->run(100, record, &r);
    for (const auto &runs : r.runs) {
        if (runs != 1) return 1;
    }
    return r.bad_thread ? 2 : 0;
}

TEST(ThreadPool, AChildOfForkRunsLoopsAloneAndDestroysItsCopy) {
    for (const int threads : {1, 4}) {
        const Pool pool(ThreadPool::create(threads));
        EXPECT_EQ(status_in_child([&] {
                      const int wrong = run_in_child(pool.get());
                      ThreadPool::destroy(pool.get());
                      return wrong;
                  }),
                  0);
        Record r(100, threads);
        pool->run(100, record, &r);
        for (const auto &runs : r.runs) EXPECT_EQ(runs, 1) << "the parent's pool is as it was";
    }
}

// The lock, the flag of a loop and the gate are in any state then.
TEST(ThreadPool, AForkInTheMiddleOfALoopLeavesAUsableChild) {
    const Pool pool(ThreadPool::create(3));
    std::atomic<bool> done{false};
    std::thread busy([&] {
        while (!done) {
            Record r(50, 3);
            pool->run(50, record, &r);
        }
    });
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(status_in_child([&] {
                      const int wrong = run_in_child(pool.get());
                      ThreadPool::destroy(pool.get());
                      return wrong;
                  }),
                  0);
    }
    done = true;
    busy.join();
}

#if !defined(__SANITIZE_THREAD__)  // it allows no threads in such a child
TEST(ThreadPool, AChildOfForkMakesAPoolOfItsOwn) {
    const Pool pool(ThreadPool::create(2));
    EXPECT_EQ(status_in_child([&] {
                  const Pool own(ThreadPool::create(2));
                  if (!own) return 1;
                  for (int repeat = 0; repeat < 100; repeat++) {
                      Record r(20, 2);
                      own->run(20, record, &r);
                      for (const auto &runs : r.runs) {
                          if (runs != 1) return 2;
                      }
                  }
                  return run_in_child(pool.get());
              }),
              0);
}
#endif

TEST(ThreadPool, WakesThreadsThatSleep) {
    const Pool pool(ThreadPool::create(2));
    for (int repeat = 0; repeat < 5; repeat++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        // The two tasks wait for each other, so the loop ends only if a second thread comes.
        struct Meeting {
            std::atomic<int> arrived{0};
        } meeting;
        pool->run(
            2,
            [](void *argument, int, int) {
                auto &m = *static_cast<Meeting *>(argument);
                m.arrived++;
                while (m.arrived < 2) std::this_thread::yield();
            },
            &meeting);
        EXPECT_EQ(meeting.arrived, 2);
    }
}

TEST(ThreadPool, ItsThreadsGetNoSignalsButThoseOfTheirFaults) {
    const Pool pool(ThreadPool::create(2));
    // The two tasks wait for each other, so that the pool's thread has one.
    struct Loop {
        std::atomic<int> arrived{0};
        sigset_t blocked;
    } loop;
    sigemptyset(&loop.blocked);
    pool->run(
        2,
        [](void *argument, int, int thread) {
            auto &l = *static_cast<Loop *>(argument);
            if (thread == 1) pthread_sigmask(SIG_SETMASK, nullptr, &l.blocked);
            l.arrived++;
            while (l.arrived < 2) std::this_thread::yield();
        },
        &loop);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
        EXPECT_EQ(sigismember(&loop.blocked, fault), 0) << fault;
    }
    for (const int other : {SIGINT, SIGTERM, SIGALRM, SIGCHLD, SIGPROF, SIGUSR1, SIGABRT}) {
        EXPECT_EQ(sigismember(&loop.blocked, other), 1) << other;
    }
}

// What a thread wrote in one loop is what it reads in the next: each begins with the same share of both.
TEST(ThreadPool, EachThreadBeginsWithItsShare) {
    constexpr int threads = 3, count = 100;
    const Pool pool(ThreadPool::create(threads));
    for (int repeat = 0; repeat < 20; repeat++) {
        // The first iteration of each share waits for those of the others, so that nobody takes what is not its own before.
        struct Loop {
            std::atomic<int> arrived{0}, wrong{0};
        } loop;
        pool->run(
            count,
            [](void *argument, int index, int thread) {
                auto &l = *static_cast<Loop *>(argument);
                const bool is_first = index == thread * count / threads;
                for (int t = 0; t < threads; t++) l.wrong += index == t * count / threads && thread != t;
                if (!is_first) return;
                l.arrived++;
                while (l.arrived < threads && l.wrong == 0) std::this_thread::yield();
            },
            &loop);
        EXPECT_EQ(loop.arrived, threads);
        EXPECT_EQ(loop.wrong, 0);
    }
}

// Threads that have done their own share take from those of others.
TEST(ThreadPool, AThreadThatIsHeldUpLeavesItsShareToOthers) {
    constexpr int count = 40;
    const Pool pool(ThreadPool::create(2));
    struct Loop {
        std::atomic<int> done{0}, by_the_other{0};
        std::atomic<bool> other_is_held{false};
    } loop;
    pool->run(
        count,
        [](void *argument, int, int thread) {
            auto &l = *static_cast<Loop *>(argument);
            if (thread == 0) {
                while (!l.other_is_held) std::this_thread::yield();
            } else {
                l.by_the_other++;
                l.other_is_held = true;
                while (l.done < count - l.by_the_other) std::this_thread::yield();
            }
            l.done += thread == 0;
        },
        &loop);
    EXPECT_EQ(loop.done + loop.by_the_other, count);
    EXPECT_EQ(loop.by_the_other, 1);
}

TEST(ThreadPool, CallersThatMeetDoNotWaitForEachOther) {
    const Pool pool(ThreadPool::create(2));
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int c = 0; c < 4; c++) {
        callers.emplace_back([&] {
            for (int repeat = 0; repeat < 300; repeat++) {
                Record r(16, 2);
                pool->run(16, record, &r);
                for (const auto &runs : r.runs) wrong += runs != 1;
                wrong += r.shared_thread || r.bad_thread;
            }
        });
    }
    for (std::thread &caller : callers) caller.join();
    EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, RefusesThreadCountsOutOfRange) {
    for (const int threads : {-1, 0, ThreadPool::max_threads + 1}) EXPECT_EQ(ThreadPool::create(threads), nullptr);
    ThreadPool::destroy(nullptr);
}

// halide_do_par_for, as kernels call it.
struct Kernel {
    std::vector<std::atomic<int>> runs = std::vector<std::atomic<int>>(32);
    std::atomic<int> wrong_context{0};
    KernelContext *workers = nullptr;
    int threads = 0;
    int fails_at = -1;
};

int body(void *user_context, int index, uint8_t *closure) {
    auto &kernel = *reinterpret_cast<Kernel *>(closure);
    auto *context = static_cast<KernelContext *>(user_context);
    if (kernel.workers && (context < kernel.workers || context >= kernel.workers + kernel.threads)) {
        kernel.wrong_context++;
    }
    void *scratch = halide_malloc(user_context, 256);
    kernel.runs[index]++;
    halide_free(user_context, scratch);
    return index == kernel.fails_at ? -7 : 0;
}

struct Contexts {
    explicit Contexts(int threads) : memory((threads + 1) * 1024 + 64), workers(threads) {
        Arena all = make_arena(memory.data(), memory.size());
        for (KernelContext &worker : workers) worker.arena = make_arena(allocate(all, 900), 900);
        caller.arena = make_arena(allocate(all, 900), 900);
    }
    std::vector<char> memory;
    std::vector<KernelContext> workers;
    KernelContext caller;
};

TEST(ParallelLoop, GivesEachThreadItsOwnContext) {
    const Pool pool(ThreadPool::create(3));
    Contexts contexts(3);
    contexts.caller.parallel = pool->parallel_for();
    contexts.caller.workers = contexts.workers.data();
    Kernel kernel;
    kernel.workers = contexts.workers.data();
    kernel.threads = 3;
    ASSERT_EQ(halide_do_par_for(&contexts.caller, body, 4, 20, reinterpret_cast<uint8_t *>(&kernel)), 0);
    for (int i = 0; i < 32; i++) EXPECT_EQ(kernel.runs[i], i >= 4 && i < 24 ? 1 : 0);
    EXPECT_EQ(kernel.wrong_context, 0);
    EXPECT_EQ(contexts.caller.arena.peak, 0u);
    for (const KernelContext &worker : contexts.workers) EXPECT_EQ(worker.arena.used, 0u);
}

TEST(ParallelLoop, WithoutWorkersRunsInOrderOnTheSameContext) {
    Contexts contexts(0);
    Kernel kernel;
    ASSERT_EQ(halide_do_par_for(&contexts.caller, body, 0, 32, reinterpret_cast<uint8_t *>(&kernel)), 0);
    EXPECT_GT(contexts.caller.arena.peak, 0u);
    kernel.fails_at = 3;
    EXPECT_EQ(halide_do_par_for(&contexts.caller, body, 0, 32, reinterpret_cast<uint8_t *>(&kernel)), -7);
    EXPECT_EQ(kernel.runs[3], 2);
    EXPECT_EQ(kernel.runs[4], 1) << "a failure ends the loop";
}

TEST(ParallelLoop, AFailingTaskIsReported) {
    const Pool pool(ThreadPool::create(2));
    Contexts contexts(2);
    contexts.caller.parallel = pool->parallel_for();
    contexts.caller.workers = contexts.workers.data();
    Kernel kernel;
    kernel.fails_at = 10;
    EXPECT_EQ(halide_do_par_for(&contexts.caller, body, 0, 32, reinterpret_cast<uint8_t *>(&kernel)), -7);
}

TEST(ParallelLoop, ExhaustionIsReportedToTheHook) {
    Contexts contexts(0);
    static size_t reported;
    reported = 0;
    contexts.caller.on_exhausted = [](const Arena &, size_t requested) { reported = requested; };
    EXPECT_EQ(halide_malloc(&contexts.caller, 5000), nullptr);
    EXPECT_EQ(reported, 5000u);
    EXPECT_TRUE(contexts.caller.arena.exhausted);
}

}  // namespace
}  // namespace kiln
