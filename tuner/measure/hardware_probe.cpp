#include "tuner/measure/hardware_probe.h"

#include <sched.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>

#include "tuner/measure/probe_kernels.h"

namespace kiln {
namespace {

// Shorter than a scheduler's time slice, so that some windows are undisturbed on a busy machine too.
constexpr int windows = 80, fewest_windows = 5;
constexpr double window_seconds = 0.002;
constexpr int64_t chain_length = 400'000;  // about 0.1 ms: before a CPU leaves the frequency of the load just ended

double seconds() {
    using namespace std::chrono;
    return duration<double>(steady_clock::now().time_since_epoch()).count();
}

std::vector<int> allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> cpus;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    }
    std::reverse(cpus.begin(), cpus.end());  // the last ones first, as measured kernels are pinned
    return cpus;
}

void pin_this_thread(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);  // when refused the thread stays where it may run
}

// Runs body(thread) on that many pinned threads and waits for all.
void on_pinned_threads(int threads, const std::function<void(int)> &body) {
    const std::vector<int> cpus = allowed_cpus();
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; t++) {
        pool.emplace_back([&, t] {
            if (!cpus.empty()) pin_this_thread(cpus[t % cpus.size()]);
            body(t);
        });
    }
}

// Repetitions of `work` that fill a window; also the warm-up.
int64_t fill_window(const std::function<void(int64_t)> &work) {
    for (int64_t repetitions = 1;; repetitions *= 2) {
        double elapsed = window_seconds;
        for (int attempt = 0; attempt < 2; attempt++) {
            const double start = seconds();
            work(repetitions);
            elapsed = std::min(elapsed, seconds() - start);
        }
        if (elapsed > window_seconds / 4 || repetitions > int64_t(1) << 40) {
            return std::max<int64_t>(1, static_cast<int64_t>(repetitions * window_seconds / elapsed));
        }
    }
}

// Work done a second by all threads together, in the best of several windows in which all of them worked. Each thread
// asks `make_work` for its own work, a function of a number of repetitions.
using Work = std::function<void(int64_t)>;
double best_rate(int threads, const std::function<Work(int)> &make_work, const std::function<void()> &after_window) {
    std::vector<double> elapsed(threads);
    std::vector<int64_t> repetitions(threads);
    double best = 0;
    int count = windows;
    std::barrier together(threads);
    on_pinned_threads(threads, [&](int t) {
        const Work work = make_work(t);
        repetitions[t] = fill_window(work);
        together.arrive_and_wait();
        const int64_t slowest = *std::min_element(repetitions.begin(), repetitions.end());
        for (int w = 0; w < count; w++) {
            together.arrive_and_wait();
            const double start = seconds();
            work(slowest);
            elapsed[t] = seconds() - start;
            together.arrive_and_wait();
            if (t == 0) {
                const double longest = *std::max_element(elapsed.begin(), elapsed.end());
                best = std::max(best, threads * static_cast<double>(slowest) / longest);
                after_window();
                // One pass over much memory takes longer than a window.
                const double wanted = windows * window_seconds / longest;
                if (w == 0) count = wanted < windows ? std::max(fewest_windows, static_cast<int>(wanted)) : windows;
            }
            together.arrive_and_wait();
        }
    });
    return best;
}

double chain_ghz() {
    const double start = seconds();
    dependent_additions(chain_length);
    return chain_length / (seconds() - start) * 1e-9;
}

struct FreeDeleter {
    void operator()(char *p) const { std::free(p); }
};
using Block = std::unique_ptr<char, FreeDeleter>;

// The parts of one thread's working set; touched by the thread itself, so that they lie in its memory.
Block allocate(size_t bytes) {
    Block block(static_cast<char *>(std::aligned_alloc(4096, bytes)));
    if (block) std::fill_n(block.get(), bytes, 1);
    return block;
}

// GB/s from passes a second; 0 when there was not enough memory to measure.
double rate_in_gb(double passes, size_t bytes, const std::vector<Block> &blocks) {
    const bool complete = std::all_of(blocks.begin(), blocks.end(), [](const Block &b) { return b != nullptr; });
    return complete ? passes * static_cast<double>(bytes) * 1e-9 : 0;
}

double read_rate(const StreamKernels &kernels, int threads, size_t bytes) {
    std::vector<Block> blocks(threads);
    auto make_work = [&](int t) -> Work {
        blocks[t] = allocate(bytes);
        return [&kernels, data = blocks[t].get(), bytes](int64_t repetitions) {
            for (int64_t i = 0; data && i < repetitions; i++) kernels.read(data, bytes);
        };
    };
    return rate_in_gb(best_rate(threads, make_work, [] {}), bytes, blocks);
}

double copy_rate(const StreamKernels &kernels, int threads, size_t bytes) {
    std::vector<Block> blocks(threads);
    const size_t half = bytes / 2;
    auto make_work = [&](int t) -> Work {
        blocks[t] = allocate(bytes);
        return [&kernels, data = blocks[t].get(), half](int64_t repetitions) {
            for (int64_t i = 0; data && i < repetitions; i++) kernels.copy(data + half, data, half);
        };
    };
    return rate_in_gb(best_rate(threads, make_work, [] {}), bytes, blocks);
}

FmaPeak peak_of(const FmaKernel &kernel, const Target &target) {
    FmaPeak peak{.instructions = kernel.instructions};
    auto after_window = [&] { peak.frequency_ghz = std::max(peak.frequency_ghz, chain_ghz()); };
    const double rate = best_rate(
        target.threads, [&](int) -> Work { return kernel.run; }, after_window);
    peak.gflops = rate * static_cast<double>(kernel.flop_per_iteration) * 1e-9;
    peak.flop_per_cycle = peak.gflops / target.threads / peak.frequency_ghz;
    return peak;
}

}  // namespace

FmaPeak measure_fma_peak(const Target &target) { return peak_of(fma_kernel(target), target); }

FmaPeak measure_int8_peak(const Target &target) { return peak_of(int8_kernel(target), target); }

std::vector<double> copy_samples_ns(const Target &target, int64_t bytes, int64_t budget_ns) {
    const StreamKernels kernels = stream_kernels(target);
    const size_t size = (size_t(bytes) + 4095) / 4096 * 4096;
    std::vector<double> samples;
    on_pinned_threads(1, [&](int) {
        const Block from = allocate(size), to = allocate(size);
        if (!from || !to) return;
        // Short copies are timed several at once: the clock itself takes tens of nanoseconds.
        const int64_t calls = std::max<int64_t>(1, (int64_t(1) << 20) / int64_t(size));
        const double end = seconds() + double(budget_ns) * 1e-9;
        kernels.copy(to.get(), from.get(), size);
        do {
            const double start = seconds();
            for (int64_t i = 0; i < calls; i++) kernels.copy(to.get(), from.get(), size);
            samples.push_back((seconds() - start) * 1e9 / double(calls));
        } while (seconds() < end);
    });
    return samples;
}

std::string fma_instructions(const Target &target) { return fma_kernel(target).instructions; }

std::string int8_instructions(const Target &target) { return int8_kernel(target).instructions; }

std::vector<Bandwidth> measure_bandwidths(const Machine &machine, int threads) {
    // Half of a cache leaves room for what else lives there; the last cache may be shared by all threads, and memory's
    // set is beyond its reach.
    struct Level {
        const char *name;
        int64_t bytes;
    };
    constexpr int64_t smallest_far = int64_t(64) << 20, largest_far = int64_t(1) << 30;
    const int64_t last_cache = std::max(machine.l2_bytes * threads, machine.l3_bytes);
    const Level levels[] = {
        {"L1", machine.l1_bytes / 2},
        {"L2", machine.l2_bytes / 2},
        {"L3", std::max(machine.l3_bytes / 2 / threads, machine.l3_bytes ? machine.l2_bytes * 2 : 0)},
        {"DRAM", std::clamp(4 * last_cache / threads, smallest_far, largest_far)},
    };
    const Target widest{machine.halide_target, threads};
    const StreamKernels kernels = stream_kernels(widest);
    std::vector<Bandwidth> result;
    for (const Level &level : levels) {
        const int64_t bytes = level.bytes / 4096 * 4096;
        if (bytes == 0) continue;
        result.push_back({.level = level.name,
                          .working_set_bytes = bytes,
                          .read_gb_s = read_rate(kernels, threads, bytes),
                          .copy_gb_s = copy_rate(kernels, threads, bytes)});
    }
    return result;
}

}  // namespace kiln
